#!/usr/bin/env bash
# Installs Slurm from Debian and starts it on this machine, as a cluster of one node, for tests/programs/test_slurm.py;
# and Snakemake, in an environment of its own, for tests/programs/test_workflows.py. A Slurm that is configured here is
# left as it is. What cannot be installed or started is said and left out: its tests are then skipped.
#
#   scripts/install_cluster.sh stop     ends the Slurm that this script has started
set -uo pipefail
cd "$(dirname "$0")/.."
. scripts/install_packages.sh
venv="${VENV:-.venv}"
conf=/etc/slurm/slurm.conf
mark="# By pairalign's scripts/install_cluster.sh"
state=/var/lib/pairalign-slurm

say() { echo "install_cluster: $*" >&2; }

configure_slurm() {
  local host
  host=$(hostname -s)
  mkdir -p "$state/spool" "$state/state" "$(dirname "$conf")"
  cat >"$conf" <<END
$mark
ClusterName=here
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
MpiDefault=none
ReturnToService=2
MailProg=/bin/true
StateSaveLocation=$state/state
SlurmdSpoolDir=$state/spool
SlurmctldLogFile=$state/slurmctld.log
SlurmdLogFile=$state/slurmd.log
SlurmctldPidFile=$state/slurmctld.pid
SlurmdPidFile=$state/slurmd.pid
NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
END
}

start_munge() { # its folders may belong to others than it likes where all runs as root: hence --force
  munge -n >/dev/null 2>&1 && return 0
  [ -s /etc/munge/munge.key ] || dd if=/dev/urandom of=/etc/munge/munge.key bs=1024 count=1 status=none
  mkdir -p /run/munge /var/log/munge
  chown root: /etc/munge /etc/munge/munge.key /run/munge /var/log/munge /var/lib/munge
  chmod 700 /etc/munge && chmod 400 /etc/munge/munge.key && chmod 755 /run/munge
  munged --force && touch "$state/munged-is-ours"
}

start_slurm() {
  [ "$(id -u)" = 0 ] || { say "starting Slurm needs root"; return 1; }
  start_munge || return 1
  pgrep -F "$state/slurmctld.pid" >/dev/null 2>&1 || slurmctld || return 1
  pgrep -F "$state/slurmd.pid" >/dev/null 2>&1 || slurmd || return 1
  for _ in $(seq 100); do
    [ "$(sinfo -h -o %t 2>/dev/null)" = idle ] && return 0
    sleep 0.2
  done
  tail -n 5 "$state"/*.log >&2
  return 1
}

if [ "${1:-}" = stop ]; then
  grep -qsF "$mark" "$conf" || exit 0
  for name in slurmd slurmctld; do
    [ -s "$state/$name.pid" ] && kill "$(cat "$state/$name.pid")"
  done
  [ -e "$state/munged-is-ours" ] && kill "$(cat /run/munge/munged.pid)"
  rm -f "$state/munged-is-ours"
  exit 0
fi

command -v sbatch >/dev/null || install_packages slurm-wlm munge
if command -v sbatch >/dev/null; then
  [ -e "$conf" ] || configure_slurm
  if grep -qF "$mark" "$conf"; then
    start_slurm || say "Slurm does not start; its test is skipped"
  fi
fi
if [ ! -x "$venv/snakemake/bin/snakemake" ]; then
  "$venv/bin/python" -m venv "$venv/snakemake" &&
    "$venv/snakemake/bin/python" -m pip install --quiet --disable-pip-version-check snakemake ||
    say "could not install Snakemake; its test is skipped"
fi
exit 0
