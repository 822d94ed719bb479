// SPDX-License-Identifier: Apache-2.0

package main

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"syscall"
	"time"

	"dray.example/clients/complaints"
)

// A program of Kubernetes' that runs beside the server, logging to a file.
type program struct {
	name  string
	cmd   *exec.Cmd
	ended chan struct{} // closed
	log   string
	about *regexp.Regexp // only complaints about this; nil: all
}

// runProgram starts bin/name. Its suite is skipped when it is not there.
func (e *env) runProgram(name string, args ...string) (*program, error) {
	path := filepath.Join(e.bin, name)
	if _, err := os.Stat(path); e.bin == "" || err != nil {
		return nil, skip{"no " + name + " here"}
	}
	p := &program{name: name, ended: make(chan struct{}), log: filepath.Join(e.dir, name+".log")}
	out, err := os.OpenFile(p.log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	p.cmd = exec.Command(path, args...)
	p.cmd.Dir, p.cmd.Stdout, p.cmd.Stderr = e.dir, out, out
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		p.cmd.Wait()
		close(p.ended)
	}()
	e.programs = append(e.programs, p)
	return p, nil
}

// running is true of what was not started by us.
func (p *program) running() bool {
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}

func (p *program) stop() {
	p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.ended:
	case <-time.After(10 * time.Second):
		p.cmd.Process.Kill()
		<-p.ended
	}
}

func (e *env) atEnd(f func()) { e.ends = append(e.ends, f) }

func (e *env) stopAll() {
	for i := len(e.programs) - 1; i >= 0; i-- {
		e.programs[i].stop()
	}
	for i := len(e.ends) - 1; i >= 0; i-- {
		e.ends[i]()
	}
	e.programs, e.ends = nil, nil
}

func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	return port, err
}

// complaints are what the program's log has against the server.
func (p *program) complaints(killed time.Time) ([]string, error) {
	f, err := os.Open(p.log)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return complaints.Judge{About: p.about, Killed: killed}.Read(f)
}
