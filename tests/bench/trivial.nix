# 500 builds that do next to nothing, and one that needs them all, as in trivial.lua.
let
  sh = name: script: derivation {
    inherit name; system = "x86_64-linux"; builder = "/bin/sh"; args = [ "-c" script ];
    __contentAddressed = true; outputHashMode = "recursive"; outputHashAlgo = "sha256";
  };
  all = builtins.genList (i: sh "trivial-${toString (i + 1)}" "echo ${toString (i + 1)} > $out") 500;
in sh "all" "echo ${builtins.concatStringsSep " " (map toString all)} > $out"
