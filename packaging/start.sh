#!/bin/sh
# `ratchet` of the tarball and the npm package: starts the program beside it, or says in one line why
# this system cannot. (apt and pip do not install on such a system; these two cannot know.)
say() { printf 'ratchet: %s\n' "$*" >&2; exit 1; }

here=$0
[ ! -L "$here" ] || here=$(readlink -f "$here")
case $here in */*) here=${here%/*} ;; *) here=. ;; esac

if [ ! -e @LOADER@ ]; then
  machine=$(uname -m)
  [ "$machine" = @MACHINE@ ] || say "this package is for @MACHINE@, and this system is $machine;" \
    "use a package that ./dev package made on $machine"
  say "this package needs glibc @GLIBC@ or newer, and this system has no glibc (@LOADER@ is missing);" \
    "use a container of @SYSTEM@"
fi
found=$(getconf GNU_LIBC_VERSION 2>/dev/null) # "glibc 2.36"
minor=${found#glibc 2.}
case $minor in
  '' | *[!0-9]*) ;; # not known: the loader decides
  *) [ "$minor" -ge @GLIBC_MINOR@ ] || say "this package needs glibc @GLIBC@ or newer, and this system has" \
    "2.$minor; use @SYSTEM@ or newer (a container will do), or a package that ./dev package made here" ;;
esac
exec "$here/ratchet-program" "$@"
