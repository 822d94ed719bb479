// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"sort"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	crdv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	crdvalidation "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	schemacel "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/common"
)

// A schema question is openAPIV3Schema of the only version of a definition, with objects
// that are created, or updated where they say what is stored.
type schemaQuestion struct {
	ID        string          `json:"id,omitempty"`
	Schema    json.RawMessage `json:"schema"`
	OldSchema json.RawMessage `json:"oldSchema"`
	Status    bool            `json:"status"`
	Objects   []struct {
		Object map[string]any `json:"object"`
		Old    map[string]any `json:"old"`
	} `json:"objects"`
}

// Where upstream keeps the schema that all versions have.
const schemaPath = "spec.validation"

func definition(schema json.RawMessage, status bool) (*apiextensions.CustomResourceDefinition, error) {
	var props crdv1.JSONSchemaProps
	if err := json.Unmarshal(schema, &props); err != nil {
		return nil, err
	}
	version := crdv1.CustomResourceDefinitionVersion{
		Name: "v1", Served: true, Storage: true,
		Schema: &crdv1.CustomResourceValidation{OpenAPIV3Schema: &props},
	}
	if status {
		version.Subresources = &crdv1.CustomResourceSubresources{Status: &crdv1.CustomResourceSubresourceStatus{}}
	}
	crd := &crdv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "things.example.com", ResourceVersion: "1"},
		Spec: crdv1.CustomResourceDefinitionSpec{
			Group: "example.com", Scope: crdv1.NamespaceScoped,
			Names:      crdv1.CustomResourceDefinitionNames{Plural: "things", Singular: "thing", Kind: "Thing", ListKind: "ThingList"},
			Versions:   []crdv1.CustomResourceDefinitionVersion{version},
			Conversion: &crdv1.CustomResourceConversion{Strategy: crdv1.NoneConverter},
		},
		Status: crdv1.CustomResourceDefinitionStatus{StoredVersions: []string{"v1"}},
	}
	out := &apiextensions.CustomResourceDefinition{}
	return out, crdv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(crd, out, nil)
}

func schemaOf(crd *apiextensions.CustomResourceDefinition) *apiextensions.JSONSchemaProps {
	if crd.Spec.Validation != nil {
		return crd.Spec.Validation.OpenAPIV3Schema
	}
	return crd.Spec.Versions[0].Schema.OpenAPIV3Schema
}

func sortedErrors(errs field.ErrorList) []string {
	out := []string{}
	for _, e := range errs {
		out = append(out, e.Error())
	}
	sort.Strings(out)
	return out
}

// Without what is wrong with the rest of the definition.
func definitionErrors(errs field.ErrorList) []string {
	out := field.ErrorList{}
	for _, e := range errs {
		if strings.HasPrefix(e.Field, schemaPath) {
			out = append(out, e)
		}
	}
	return sortedErrors(out)
}

func answerSchema(s *settings, line []byte) (any, error) {
	var q schemaQuestion
	if err := utiljson.Unmarshal(line, &q); err != nil {
		return nil, err
	}
	out := fields{"id": q.ID}
	crd, err := definition(q.Schema, q.Status)
	if err != nil {
		out["undecodable"] = true
		return out, nil
	}
	ctx := context.Background()
	var errs field.ErrorList
	if len(q.OldSchema) > 0 {
		old, err := definition(q.OldSchema, q.Status)
		if err != nil {
			return nil, err
		}
		errs = crdvalidation.ValidateCustomResourceDefinitionUpdate(ctx, crd, old)
	} else {
		crd.ResourceVersion = ""
		errs = crdvalidation.ValidateCustomResourceDefinition(ctx, crd)
	}
	out["definition"] = definitionErrors(errs)
	if len(out["definition"].([]string)) > 0 {
		return out, nil
	}
	ss, err := structural.NewStructural(schemaOf(crd))
	if err != nil {
		return nil, err
	}
	objects := []any{}
	for _, o := range q.Objects {
		objects = append(objects, answerObject(ctx, crd, ss, o.Object, o.Old))
	}
	out["objects"] = objects
	return out, nil
}

// decodeObject does what the handler does to a body: the unknown fields, or an error.
func decodeObject(ss *structural.Structural, obj map[string]any) ([]string, *field.Error) {
	found := pruning.PruneWithOptions(obj, ss, true, structural.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})
	defaulting.PruneNonNullableNullsWithoutDefaults(obj, ss)
	err, meta := objectmeta.CoerceWithOptions(nil, obj, ss, false, objectmeta.CoerceOptions{ReturnUnknownFieldPaths: true})
	if err != nil {
		return nil, err
	}
	defaulting.Default(obj, ss)
	return append(found, meta...), nil
}

func blocked(errs field.ErrorList) bool {
	for _, err := range errs {
		switch err.Type {
		case field.ErrorTypeNotSupported, field.ErrorTypeRequired, field.ErrorTypeTooLong, field.ErrorTypeTooMany, field.ErrorTypeTypeInvalid:
			return true
		}
	}
	return false
}

func answerObject(ctx context.Context, crd *apiextensions.CustomResourceDefinition, ss *structural.Structural, obj, old map[string]any) any {
	out := fields{}
	unknown, bad := decodeObject(ss, obj)
	if bad != nil {
		out["bad"] = bad.Field
		return out
	}
	out["unknown"], out["object"] = append([]string{}, unknown...), obj
	validator, _, err := validation.NewSchemaValidator(schemaOf(crd))
	if err != nil {
		out["error"] = err.Error()
		return out
	}
	var errs field.ErrorList
	var options []schemacel.Option
	var oldValue any
	if old != nil {
		if _, bad := decodeObject(ss, old); bad != nil {
			return fields{"bad": bad.Field}
		}
		oldValue = old
		pair := common.NewCorrelatedObject(obj, old, &model.Structural{Structural: ss})
		errs = append(errs, validation.ValidateCustomResourceUpdate(nil, obj, old, validator, validation.WithRatcheting(pair))...)
		options = append(options, schemacel.WithRatcheting(pair))
	} else {
		errs = append(errs, validation.ValidateCustomResource(nil, obj, validator)...)
	}
	errs = append(errs, objectmeta.Validate(ctx, nil, obj, ss, false)...)
	if old == nil || len(listtype.ValidateListSetsAndMaps(nil, ss, old)) == 0 {
		errs = append(errs, listtype.ValidateListSetsAndMaps(nil, ss, obj)...)
	}
	if rules := schemacel.NewValidator(ss, true, celconfig.PerCallLimit); rules != nil {
		if blocked(errs) {
			errs = append(errs, field.Invalid(nil, nil, "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation"))
		} else {
			more, left := rules.Validate(ctx, nil, ss, obj, oldValue, celconfig.RuntimeCELCostBudget, options...)
			errs = append(errs, more...)
			out["cost"] = celconfig.RuntimeCELCostBudget - left
		}
	}
	out["errors"] = sortedErrors(errs)
	return out
}
