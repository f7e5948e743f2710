"""Environments of jobs in Kubernetes manifests and Compose files are read, each at its place."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from lossless.api import lint
from lossless.formats.hosts.read.manifests import resources_in, speaks_of_hosts
from lossless.formats.inputs.collect import Candidate, read
from lossless.ground.documents import load_text

if TYPE_CHECKING:
    from pathlib import Path

    from lossless.formats.hosts.read.facts import Facts

POD = """\
apiVersion: v1
kind: Pod
metadata: {name: train}
spec:
  containers:
    - name: main
      env:
        - {name: NCCL_IB_TC, value: "104"}
      resources: {limits: {nvidia.com/gpu: 8}}
"""
MPI_JOB = """\
apiVersion: kubeflow.org/v2beta1
kind: MPIJob
metadata: {name: nccl-tests}
spec:
  mpiReplicaSpecs:
    Launcher:
      template:
        spec:
          containers:
            - name: launcher
              command:
                - /bin/sh
                - -c
                - |
                  # NCCL_IB_TC=0
                  mpirun -np 16 -x NCCL_IB_TC=106 -x NCCL_IB_HCA all_reduce_perf
    Worker:
      template:
        spec:
          containers:
            - name: worker
              env:
                - {name: UCX_NET_DEVICES, value: "mlx5_0:1"}
              resources: {limits: {nvidia.com/gpu: 8, rdma/hca: 1}}
"""
COMPOSE = """\
x-common: &common
  NCCL_IB_TC: 104
services:
  first:
    gpus: all
    environment:
      <<: *common
      NCCL_SOCKET_IFNAME: ${IFNAME}
  second:
    gpus: all
    devices: [/dev/infiniband]
    environment:
      - NCCL_IB_TC=106
      - NCCL_IB_HCA
"""


def read_text(text: str, folder: Path, name: str = "file.yaml") -> tuple[Facts, ...]:
    """Return the facts in a file that is named."""
    (folder / name).write_text(text)
    return read(Candidate(str(folder / name), expected=True)).facts


def variables(facts: Facts) -> dict[str, str]:
    return dict(fact.value for fact in facts.said if fact.key.startswith("variable."))


def lines(facts: Facts) -> dict[str, int]:
    return {
        fact.key.removeprefix("variable."): facts.document.locate(fact.path).line
        for fact in facts.said
        if fact.key.startswith("variable.")
    }


def test_each_pod_of_a_job_has_its_variables(tmp_path: Path) -> None:
    launcher, worker = read_text(MPI_JOB, tmp_path)
    assert (launcher.host, worker.host) == ("nccl-tests/Launcher", "nccl-tests/Worker")
    assert (variables(launcher), variables(worker)) == (
        {"NCCL_IB_TC": "106"},
        {"UCX_NET_DEVICES": "mlx5_0:1"},
    )
    assert lines(worker) == {"UCX_NET_DEVICES": 23}


@pytest.mark.parametrize(
    ("kind", "pod"),
    [
        ("Deployment", "spec: {{template: {{spec: {containers}}}}}"),
        ("StatefulSet", "spec: {{template: {{spec: {containers}}}}}"),
        ("CronJob", "spec: {{jobTemplate: {{spec: {{template: {{spec: {containers}}}}}}}}}"),
        ("PyTorchJob", "spec: {{pytorchReplicaSpecs: {{Worker: {{template: {{spec: {containers}}}}}}}}}"),
        (
            "JobSet",
            "spec: {{replicatedJobs: [{{name: w, template: {{spec: {{template: {{spec: {containers}}}}}}}}}]}}",
        ),
        ("List", "items: [{{kind: Pod, metadata: {{name: train}}, spec: {containers}}}]"),
    ],
)
def test_any_resource_with_pods_is_read(kind: str, pod: str, tmp_path: Path) -> None:
    containers = "{containers: [{name: main, env: [{name: NCCL_IB_TC, value: '104'}]}]}"
    text = f"apiVersion: v1\nkind: {kind}\nmetadata: {{name: train}}\n{pod.format(containers=containers)}\n"
    (facts,) = read_text(text, tmp_path)
    assert (facts.host, variables(facts), lines(facts)) == ("train", {"NCCL_IB_TC": "104"}, {"NCCL_IB_TC": 4})


def test_a_config_map_gives_its_variables_to_the_containers_that_take_it() -> None:
    values = "  NCCL_IB_TC: '26'\n  NCCL_IB_TIMEOUT: '22'\n"
    config = f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: nccl}}\ndata:\n{values}"
    taking = POD.replace(
        "      env:", "      envFrom: [{configMapRef: {name: nccl}}, {secretRef: {name: s}}]\n      env:"
    )
    (job,) = resources_in(f"{config}---\n# a comment\n---\n{taking}", "jobs.yaml")
    assert (job.host, variables(job)) == ("train", {"NCCL_IB_TC": "104", "NCCL_IB_TIMEOUT": "22"})
    assert lines(job) == {"NCCL_IB_TIMEOUT": 6, "NCCL_IB_TC": 18}
    assert job.notes == ("jobs.yaml: variables of train in Secret s: not read",)
    alone, job = resources_in(f"{config}---\n{POD}", "jobs.yaml")[::-1]
    assert (alone.host, variables(alone)["NCCL_IB_TC"], variables(job)["NCCL_IB_TC"]) == ("nccl", "26", "104")


def test_a_value_of_another_place_is_noted_and_hides_an_earlier_one(tmp_path: Path) -> None:
    for value in (
        "value: $(TC)",
        "valueFrom: {fieldRef: {fieldPath: metadata.name}}",
        "value: '{{ .Values.tc }}'",
    ):
        text = POD.replace("      resources", f"        - {{name: NCCL_IB_TC, {value}}}\n      resources")
        (facts,) = read_text(text, tmp_path)
        assert (variables(facts), len(facts.notes)) == ({}, 1), value


def test_services_of_a_compose_file_are_jobs(tmp_path: Path) -> None:
    first, second = read_text(COMPOSE, tmp_path, "compose.yml")
    assert (first.host, variables(first), lines(first)) == ("first", {"NCCL_IB_TC": "104"}, {"NCCL_IB_TC": 2})
    assert (second.host, variables(second), lines(second)) == (
        "second",
        {"NCCL_IB_TC": "106"},
        {"NCCL_IB_TC": 13},
    )
    assert (len(first.notes), len(second.notes)) == (1, 1)


@pytest.mark.parametrize(
    "gives",
    [
        ("nvidia.com/gpu: 8", "nvidia.com/gpu: 8, rdma/hca: 1"),
        ("nvidia.com/gpu: 8", "nvidia.com/gpu: 8, vpc.amazonaws.com/efa: 4"),
        ("nvidia.com/gpu: 8", "cpu: 8"),
        ("{name: train}", "{name: train, annotations: {k8s.v1.cni.cncf.io/networks: rail-0}}"),
        ("{name: train}", "{name: train, annotations: {networking.gke.io/interfaces: rdma-0}}"),
        ("    - name: main", "    - name: main\n      securityContext: {privileged: true}"),
        ("spec:\n", "spec:\n  volumes: [{name: ib, hostPath: {path: /dev/infiniband}}]\n"),
        ("spec:\n", "spec:\n  resourceClaims: [{name: nic}]\n"),
        ("      env:", "      env:\n        - {name: NVIDIA_MOFED, value: enabled}"),
        ("NCCL_IB_TC", "NCCL_DEBUG"),
    ],
)
def test_a_container_lacks_a_device_only_where_nothing_gives_it(
    gives: tuple[str, str], tmp_path: Path
) -> None:
    def codes(text: str) -> list[str]:
        (tmp_path / "pod.yaml").write_text(text)
        return [finding.code for finding in lint([tmp_path]).findings]

    assert codes(POD) == ["HST011"]
    assert codes(POD.replace(*gives)) == []


def test_jobs_of_one_name_in_two_files_do_not_contradict_each_other(tmp_path: Path) -> None:
    for folder, value in (("base", "104"), ("test", "106")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "pod.yaml").write_text(
            POD.replace("104", value).replace("8}", "8, rdma/hca: 1}")
        )
    report = lint([tmp_path])
    assert (report.errors, report.findings) == ((), ())


def test_a_helm_template_is_named_as_not_read(tmp_path: Path) -> None:
    (tmp_path / "job.yaml").write_text(f"{{{{- if .Values.rdma }}}}\n{POD}{{{{- end }}}}\n")
    (skipped,) = lint([tmp_path]).skipped
    assert "Helm template" in skipped.reason
    (problem,) = lint([tmp_path / "job.yaml"]).errors
    assert "Helm template" in problem.message


@pytest.mark.parametrize(
    "text", [POD.replace("NCCL_IB_TC", "PATH"), "services: {a: {environment: {A: NCCL_IB}}}\n"]
)
def test_a_manifest_without_variables_of_jobs_has_no_facts(text: str) -> None:
    assert not speaks_of_hosts(load_text(text, "file.yaml"))
