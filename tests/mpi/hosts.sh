#!/bin/sh
# Runs a program of ranks on two hosts, which are network namespaces of this machine that only a
# virtual cable connects: hosts.sh MPIRUN PROGRAM... . Exits with 77 where the machine lets nobody
# make them, or Open MPI is not there.
set -u
mpirun=$1
shift
case $("$mpirun" --version) in *"Open MPI"* | *OpenRTE*) ;; *) echo "hosts: needs Open MPI" && exit 77 ;; esac
one=weft-one-$$ two=weft-two-$$
clean() {
  for host in "$one" "$two"; do
    ip netns del "$host" 2>/dev/null
    rm -rf "/etc/netns/$host"
  done
  rm -f "$agent"
}
agent=$(mktemp)
trap clean EXIT
trap 'exit 1' INT TERM
make_hosts() {
  ip netns add "$one" && ip netns add "$two" && unshare --uts true &&
    ip link add weft0 netns "$one" type veth peer name weft0 netns "$two" || return 1
  i=1
  for host in "$one" "$two"; do
    ip -n "$host" link set lo up && ip -n "$host" address add "10.213.77.$i/24" dev weft0 &&
      ip -n "$host" link set weft0 up && mkdir -p "/etc/netns/$host" &&
      printf '127.0.0.1 localhost\n10.213.77.1 %s\n10.213.77.2 %s\n' "$one" "$two" \
        >"/etc/netns/$host/hosts" || return 1
    i=$((i + 1))
  done
}
if ! make_hosts 2>/dev/null; then
  echo "hosts: no network namespaces can be made here"
  exit 77
fi
# Stands in for ssh: the host, then the command line.
cat >"$agent" <<'END'
#!/bin/sh
host=$1
shift
exec ip netns exec "$host" unshare --uts sh -c 'hostname "$0"; eval "$1"' "$host" "$*"
END
chmod +x "$agent"
"$agent" "$one" "$mpirun" --mca plm_rsh_agent "$agent" --mca oob_tcp_if_include weft0 --mca btl tcp,self,vader \
  --mca btl_tcp_if_include weft0 --oversubscribe --host "$one:2,$two:2" "$@"
