#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a large cluster as `kubectl get -o json` prints it: cluster.py NODES DEVICES PODS [DIR].

DIR/slices.json holds the ResourceSlices (one a node) as a ResourceSliceList, DIR/nodes.json the nodes,
DIR/pods.json a class, a template and the pods, each with one device from the template.
"""
import json
import pathlib
import sys


def meta(name, number, **more):
    return {'creationTimestamp': '2026-06-01T08:00:00Z', 'name': name,
            'resourceVersion': str(1000 + number),
            'uid': f'00000000-0000-4000-8000-{number:012d}', **more}


def device(node, i):
    return {
        'attributes': {
            'architecture': {'string': 'Hopper'},
            'brand': {'string': 'Nvidia'},
            'cudaComputeCapability': {'version': '9.0.0'},
            'driverVersion': {'version': '580.65.6'},
            'index': {'int': i},
            'productName': {'string': 'NVIDIA H100 80GB HBM3'},
            'resource.kubernetes.io/pcieRoot': {'string': f'pci0000:{16 * i + 7:02x}'},
            'type': {'string': 'gpu'},
            'uuid': {'string': f'GPU-{node:08d}-0000-4000-8000-{i:012d}'},
        },
        'capacity': {'cores': {'value': '132'}, 'memory': {'value': '81559Mi'}},
        'name': f'gpu-{i}',
    }


def slice_of(node, devices):
    name = f'node-{node:05d}'
    return {
        'apiVersion': 'resource.k8s.io/v1', 'kind': 'ResourceSlice',
        'metadata': meta(f'{name}-gpu.example.com', node, generation=1,
                         ownerReferences=[{'apiVersion': 'v1', 'controller': True,
                                           'kind': 'Node', 'name': name,
                                           'uid': f'00000000-0000-4000-9000-{node:012d}'}]),
        'spec': {
            'devices': [device(node, i) for i in range(devices)],
            'driver': 'gpu.example.com', 'nodeName': name,
            'pool': {'generation': 1, 'name': name, 'resourceSliceCount': 1},
        },
    }


def node_of(node):
    name = f'node-{node:05d}'
    return {
        'apiVersion': 'v1', 'kind': 'Node',
        'metadata': meta(name, node, labels={'kubernetes.io/hostname': name,
                                             'kubernetes.io/os': 'linux'}),
        'spec': {},
        'status': {'allocatable': {'cpu': '128', 'memory': '1056Gi', 'pods': '110'},
                   'capacity': {'cpu': '128', 'memory': '1056Gi', 'pods': '110'}},
    }


def workload(pods):
    yield {'apiVersion': 'resource.k8s.io/v1', 'kind': 'DeviceClass',
           'metadata': {'name': 'gpu'},
           'spec': {'selectors': [{'cel': {'expression':
                                           'device.driver == "gpu.example.com"'}}]}}
    yield {'apiVersion': 'resource.k8s.io/v1', 'kind': 'ResourceClaimTemplate',
           'metadata': {'name': 'one-gpu', 'namespace': 'default'},
           'spec': {'spec': {'devices': {'requests': [
               {'name': 'gpu', 'exactly': {'deviceClassName': 'gpu'}}]}}}}
    for i in range(pods):
        yield {'apiVersion': 'v1', 'kind': 'Pod',
               'metadata': meta(f'job-{i:05d}', 100000 + i, namespace='default'),
               'spec': {'containers': [{'image': 'registry.example.com/job:1', 'name': 'main',
                                        'resources': {'claims': [{'name': 'gpu'}],
                                                      'requests': {'cpu': '1'}}}],
                        'resourceClaims': [{'name': 'gpu',
                                            'resourceClaimTemplateName': 'one-gpu'}]},
               'status': {'phase': 'Pending'}}


def write(path, items, version='v1', kind='List'):
    with open(path, 'w') as f:
        json.dump({'apiVersion': version, 'items': list(items), 'kind': kind,
                   'metadata': {'resourceVersion': ''}}, f, indent=4)


def main():
    if len(sys.argv) not in (4, 5) or not all(a.isdigit() for a in sys.argv[1:4]):
        sys.exit(__doc__.strip())
    nodes, devices, pods = map(int, sys.argv[1:4])
    folder = pathlib.Path(sys.argv[4] if len(sys.argv) > 4 else '.')
    write(folder / 'slices.json', (slice_of(i, devices) for i in range(nodes)),
          'resource.k8s.io/v1', 'ResourceSliceList')
    write(folder / 'nodes.json', (node_of(i) for i in range(nodes)))
    write(folder / 'pods.json', workload(pods))


main()
