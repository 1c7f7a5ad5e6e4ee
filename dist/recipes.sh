#!/bin/sh
# Writes the Homebrew formula and the conda recipe of the static archives: for each machine its address in a
# release, and its checksum.
set -eu
cd "$(dirname "$0")/.."
# shellcheck source=dist/common.sh
. dist/common.sh
repository=$(sed -n 's/^repository = "\(.*\)"/\1/p' Cargo.toml)
licence=$(sed -n 's/^license = "\(.*\)"/\1/p' Cargo.toml)
description=$(sed -n 's/^description = "\(.*\)"/\1/p' crates/faces/cli/Cargo.toml)
machines=
for archive in "$out/gristmill-$version-"*-linux-*.tar.gz; do
    [ -f "$archive" ] || fail "there is no static archive of version $version in $out: run 'make dist-musl'"
    machine=${archive#"$out/gristmill-$version-"}
    machine=${machine%%-*}
    url=$repository/releases/download/v$version/${archive##*/}
    sum=$(sha256sum "$archive" | cut -d' ' -f1)
    machines="$machines${machines:+ or }$machine"
    only="
  depends_on arch: :$(echo "$machine" | sed 's/aarch64/arm64/')"
    cat >>"$stage/formula" <<END

  on_$(echo "$machine" | sed 's/aarch64/arm/; s/x86_64/intel/') do
    url "$url"
    sha256 "$sum"
  end
END
    cat >>"$stage/source" <<END
  - if: $machine
    then:
      url: $url
      sha256: $sum
END
done

case $machines in *" or "*) only= ;; esac

cat >"$out/gristmill.rb" <<END
# Homebrew on Linux: brew install ./gristmill.rb
class Gristmill < Formula
  desc "$description"
  homepage "$repository"
  version "$version"
  license any_of: [$(echo "$licence" | sed 's/ OR /", "/; s/.*/"&"/')]
$only
  depends_on :linux
$(cat "$stage/formula")

  def install
    bin.install "bin/gristmill"
    man1.install Dir["share/man/man1/*"]
    bash_completion.install "share/bash-completion/completions/gristmill"
    zsh_completion.install "share/zsh/site-functions/_gristmill"
    fish_completion.install "share/fish/vendor_completions.d/gristmill.fish"
    doc.install Dir["share/doc/gristmill/*"]
  end

  test do
    (testpath/"lines").write "b\na\n"
    assert_equal "a\nb\n", shell_output("#{bin}/gristmill sort #{testpath}/lines")
  end
end
END

cat >"$out/recipe.yaml" <<END
# rattler-build build --recipe recipe.yaml
schema_version: 1
package:
  name: gristmill
  version: "$version"
source:
$(cat "$stage/source")
build:
  number: 0
  skip: not (linux and ($machines))
  # It is static: there is nothing to relocate.
  dynamic_linking:
    binary_relocation: false
  script:
    - mkdir -p "\$PREFIX"
    - cp -r bin share "\$PREFIX"
tests:
  - script:
      - printf 'b\na\n' > lines
      - test "\$(gristmill sort --top 1 lines)" = a
about:
  homepage: $repository
  license: $licence
  license_file:
    - share/doc/gristmill/LICENSE-APACHE
    - share/doc/gristmill/LICENSE-MIT
    - share/doc/gristmill/THIRD-PARTY-LICENCES
  summary: $description
END
echo "dist: $out/gristmill.rb $out/recipe.yaml"
