#!/bin/sh
# Lists the libraries that are compiled into the packages, as a bill of materials in CycloneDX's JSON:
# versions, licences, checksums of the sources, and which library uses which. It needs jq.
set -eu
cd "$(dirname "$0")/.."
# shellcheck source=dist/common.sh
. dist/common.sh
need jq jq || fail "a bill of materials needs jq"
tree "$(rustc -vV | sed -n 's/^host: //p')" gristmill-cli gristmill-bench gristmill-c gristmill-python |
    awk -F'|' -v version="$version" '
        FILENAME == "Cargo.lock" {
            gsub(/"/, "")
            split($0, word, " = ")
            if (word[1] == "name") name = word[2]
            if (word[1] == "version") of = "pkg:cargo/" name "@" word[2]
            if (word[1] == "checksum") checksum[of] = word[2]
            next
        }
        $2 == "" { next }
        {
            if ($3 == "") $3 = version
            self = "pkg:cargo/" $2 "@" $3
            users[$1] = self
            # Old packages write "MIT/Apache-2.0".
            gsub(/\//, " OR ", $4)
            print "component|" self "|" $2 "|" $3 "|" $4 "|" checksum[self]
            print "use|" ($1 ? users[$1 - 1] : "gristmill") "|" self
        }' Cargo.lock - | LC_ALL=C sort -u |
    jq -Rn --arg version "$version" --argjson epoch "$SOURCE_DATE_EPOCH" '
        [inputs / "|"] as $lines
        | {
            bomFormat: "CycloneDX", specVersion: "1.5", version: 1,
            metadata: {
                timestamp: ($epoch | todate),
                component: {type: "application", name: "gristmill", version: $version, "bom-ref": "gristmill"}
            },
            components: [$lines[] | select(.[0] == "component") | {
                type: "library", "bom-ref": .[1], name: .[2], version: .[3], purl: .[1], licenses: [{expression: .[4]}]
            } + if .[5] == "" then {} else {hashes: [{alg: "SHA-256", content: .[5]}]} end],
            dependencies: [$lines | map(select(.[0] == "use")) | group_by(.[1])[] | {ref: .[0][1], dependsOn: map(.[2])}]
        }' >"$out/gristmill-$version.cdx.json"
echo "dist: $out/gristmill-$version.cdx.json"
