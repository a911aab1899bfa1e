# One derivation, which needs nothing: what nix-build finds built.
derivation {
  name = "one"; system = "x86_64-linux"; builder = "/bin/sh"; args = [ "-c" "echo one > $out" ];
  __contentAddressed = true; outputHashMode = "recursive"; outputHashAlgo = "sha256";
}
