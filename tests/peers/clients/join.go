// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// A machine that has nothing but a bootstrap token becomes a node: the kubelet asks for a
// certificate with it, the controller manager approves and signs.
const (
	tokenID     = "abcdef"
	tokenSecret = "0123456789abcdef"
	joiners     = "system:bootstrappers:peers"
)

func joinChecks() []check {
	checks := []check{
		{name: "join/request-signed", run: requestSigned},
		{name: "join/node-registers", run: nodeRegisters},
		{name: "join/own-certificate", run: ownCertificate},
		{name: "join/token-ends", run: tokenEnds},
	}
	for i := range checks {
		checks[i].limit = 2 * time.Minute
	}
	return checks
}

func joinBegin(e *env) error {
	if err := canRunNode(e); err != nil {
		return err
	}
	manager, scheduler, err := e.strictIdentities()
	if err != nil {
		return err
	}
	if err = e.runControlPlane(manager, scheduler, true, false); err != nil {
		return err
	}
	if err = e.letJoin(); err != nil {
		return err
	}
	if err = os.MkdirAll(e.node(""), 0o700); err != nil {
		return err
	}
	bootstrap := filepath.Join(e.dir, "bootstrap.kubeconfig")
	if err = e.writeTokenConfig(bootstrap, tokenID+"."+tokenSecret); err != nil {
		return err
	}
	bin, err := e.binWithBootstrap(bootstrap)
	if err != nil {
		return err
	}
	return e.startNodeFrom(bin, e.node("own.kubeconfig"))
}

// letJoin makes the token, and what kubeadm would bind to its group.
func (e *env) letJoin() error {
	c, t := e.client("application/json"), context.Background()
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "bootstrap-token-" + tokenID},
		Type:       "bootstrap.kubernetes.io/token",
		StringData: map[string]string{
			"token-id": tokenID, "token-secret": tokenSecret, "usage-bootstrap-authentication": "true",
			"auth-extra-groups": joiners, "expiration": time.Now().Add(time.Hour).UTC().Format(time.RFC3339),
		},
	}
	if _, err := c.CoreV1().Secrets("kube-system").Create(t, secret, metav1.CreateOptions{}); err != nil {
		return err
	}
	for role, group := range map[string]string{
		"system:node-bootstrapper": joiners,
		"system:certificates.k8s.io:certificatesigningrequests:nodeclient":     joiners,
		"system:certificates.k8s.io:certificatesigningrequests:selfnodeclient": "system:nodes",
	} {
		binding := &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{GenerateName: "join-"},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
			Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "Group", Name: group}},
		}
		if _, err := c.RbacV1().ClusterRoleBindings().Create(t, binding, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	return nil
}

func (e *env) writeTokenConfig(path, token string) error {
	config := clientcmdapi.NewConfig()
	config.Clusters["c"] = &clientcmdapi.Cluster{Server: e.config.Host, CertificateAuthority: e.authority()}
	config.AuthInfos["u"] = &clientcmdapi.AuthInfo{Token: token}
	config.Contexts["x"] = &clientcmdapi.Context{Cluster: "c", AuthInfo: "u"}
	config.CurrentContext = "x"
	return clientcmd.WriteToFile(*config, path)
}

// binWithBootstrap is the folder of programs with a kubelet that knows where to begin.
func (e *env) binWithBootstrap(config string) (string, error) {
	bin := filepath.Join(e.dir, "bin")
	if err := os.Mkdir(bin, 0o700); err != nil {
		return "", err
	}
	programs, err := os.ReadDir(e.bin)
	if err != nil {
		return "", err
	}
	for _, p := range programs {
		if p.Name() != "kubelet" {
			if err := os.Symlink(filepath.Join(e.bin, p.Name()), filepath.Join(bin, p.Name())); err != nil {
				return "", err
			}
		}
	}
	script := fmt.Sprintf("#!/bin/sh\nexec %s --bootstrap-kubeconfig %s --cert-dir %s \"$@\"\n",
		filepath.Join(e.bin, "kubelet"), config, e.node("pki"))
	return bin, os.WriteFile(filepath.Join(bin, "kubelet"), []byte(script), 0o700)
}

func requestSigned(t *T) {
	t.Wait(patience, "the kubelet's request to be signed", func() (bool, string) {
		list, err := t.client().CertificatesV1().CertificateSigningRequests().List(t, metav1.ListOptions{
			FieldSelector: "spec.signerName=" + certificatesv1.KubeAPIServerClientKubeletSignerName})
		if err != nil || len(list.Items) == 0 {
			return false, fmt.Sprint("no request: ", err)
		}
		r := list.Items[0]
		t.Must(r.Spec.Username == "system:bootstrap:"+tokenID, "asked by %s", r.Spec.Username)
		t.Must(strings.Contains(fmt.Sprint(r.Spec.Groups), joiners), "of %v", r.Spec.Groups)
		return len(r.Status.Certificate) > 0, fmt.Sprint(r.Status.Conditions)
	})
}

// The certificate is the node's own, and it is what the kubelet works with from then on.
func ownCertificate(t *T) {
	config, err := clientcmd.BuildConfigFromFlags("", t.Env.node("own.kubeconfig"))
	t.OK(err, "the kubelet's own configuration")
	t.Must(config.BearerToken == "", "the token is kept")
	n, err := t.client().CoreV1().Nodes().Get(t, nodeName, metav1.GetOptions{})
	t.OK(err, "the node")
	managed := fmt.Sprint(n.ManagedFields)
	t.Must(strings.Contains(managed, "kubelet"), "the node is %s's", managed)
}

// answer is the status of a request with a token.
func answer(t *T, token string) int {
	config := rest.AnonymousClientConfig(t.Env.config)
	config.BearerToken = token
	client, err := rest.HTTPClientFor(config)
	t.OK(err, "client")
	r, err := client.Get(config.Host + "/api")
	t.OK(err, "request")
	r.Body.Close()
	return r.StatusCode
}

func tokenEnds(t *T) {
	token := tokenID + "." + tokenSecret
	t.Must(answer(t, token) == http.StatusOK, "the token is not believed")
	t.Must(answer(t, tokenID+".0123456789abcdee") == http.StatusUnauthorized, "another secret is")
	secrets := t.client().CoreV1().Secrets("kube-system")
	t.OK(secrets.Delete(t, "bootstrap-token-"+tokenID, metav1.DeleteOptions{}), "delete")
	t.Wait(patience, "the token to be refused", func() (bool, string) {
		code := answer(t, token)
		return code == http.StatusUnauthorized, fmt.Sprint(code)
	})
	n, err := t.client().CoreV1().Nodes().Get(t, nodeName, metav1.GetOptions{})
	t.OK(err, "the node")
	t.Must(len(n.Status.Addresses) > 0, "the node has no addresses")
}
