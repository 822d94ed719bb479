// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/client-go/util/keyutil"
)

// identity is a kubeconfig of a user whose certificate the server's authority signs.
func (e *env) identity(name, user string, groups ...string) (string, error) {
	parent, signer, err := e.readAuthority()
	if err != nil {
		return "", err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return "", err
	}
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	if err != nil {
		return "", err
	}
	cert, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{SerialNumber: serial,
		Subject:   pkix.Name{CommonName: user, Organization: groups},
		NotBefore: time.Now().Add(-time.Minute), NotAfter: time.Now().Add(24 * time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}, parent, key.Public(), signer)
	if err != nil {
		return "", err
	}
	secret, err := keyutil.MarshalPrivateKeyToPEM(key)
	if err != nil {
		return "", err
	}
	config := clientcmdapi.NewConfig()
	config.Clusters["c"] = &clientcmdapi.Cluster{Server: e.config.Host, CertificateAuthorityData: e.config.CAData}
	config.AuthInfos["u"] = &clientcmdapi.AuthInfo{ClientKeyData: secret,
		ClientCertificateData: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert})}
	config.Contexts["x"] = &clientcmdapi.Context{Cluster: "c", AuthInfo: "u"}
	config.CurrentContext = "x"
	path := filepath.Join(e.dir, name+".kubeconfig")
	return path, clientcmd.WriteToFile(*config, path)
}

func (e *env) readAuthority() (*x509.Certificate, crypto.Signer, error) {
	if e.external != "" {
		return nil, nil, skip{"the authority's key is not ours"}
	}
	text, err := os.ReadFile(e.data("ca.crt"))
	if err != nil {
		return nil, nil, err
	}
	block, _ := pem.Decode(text)
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return nil, nil, err
	}
	if text, err = os.ReadFile(e.data("ca.key")); err != nil {
		return nil, nil, err
	}
	key, err := keyutil.ParsePrivateKeyPEM(text)
	if err != nil {
		return nil, nil, err
	}
	signer, ok := key.(crypto.Signer)
	if !ok {
		return nil, nil, fmt.Errorf("the authority's key signs nothing")
	}
	return cert, signer, nil
}

// data is a file of the server's folder.
func (e *env) data(name string) string { return filepath.Join(e.dir, "data", name) }
