# shellcheck shell=sh disable=SC2154,SC2034
# Common parts of the scripts that test on hosts. They source it, and set before
#
#   about    the subject of the test, for people
#   sets     the names of the sets of hosts to take down at the end
#
# Afterwards `hosts` is the path of hosts.sh, `place` a temporary directory, HOSTS_RUN the first set,
# and `check` runs one check. On a machine that does not support hosts the script ends: skipped.
here=$(cd "$(dirname "$0")" && pwd)
hosts=$here/hosts.sh

skip() { echo "skipped: $about: $1"; exit 0; }
reason=$("$hosts" check)
case $? in
0) ;;
1) skip "${reason#no: }" ;;
*) echo "FAILED: hosts.sh check"; exit 1 ;;
esac
# Ends the script if program $1, which $2 installs, is missing.
need() { command -v "$1" >/dev/null || skip "'$1' is missing; run \`$2\` to install it"; }

place=$(mktemp -d "${TMPDIR:-/tmp}/gristmill hosts XXXXXX")
export HOSTS_RUN="${sets%% *}"
failed=0
of() { (export HOSTS_RUN="$1"; shift; "$@"); } # another set of hosts
finish() {
    for set in $sets; do of "$set" "$hosts" down; done
    rm -rf "$place"
}
trap finish EXIT
trap 'exit 130' INT TERM HUP

# The check named $1 is that the command after it succeeds.
check() {
    name=$1; shift
    if said=$("$@" 2>&1); then echo "passed: $name"; return; fi
    failed=1
    echo "FAILED: $name"
    echo "$said" | tail -n 20 | sed 's/^/    /'
}
no() { ! "$@"; }
