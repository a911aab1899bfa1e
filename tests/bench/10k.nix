# 10,000 derivations with three inputs each, as in 10k.lua.
let
  drv = i: derivation {
    name = "trivial-${toString i}"; system = "x86_64-linux"; builder = "/bin/sh";
    args = [ "-c" "echo ${toString i} > $out" ];
    __contentAddressed = true; outputHashMode = "recursive"; outputHashAlgo = "sha256";
    A = input i 1; B = input i 2; C = input i 3;
  };
  input = i: k: let at = if i - k * 7 >= 1 then i - k * 7 else i - 1; in
    if at < 1 then "none" else "${builtins.elemAt made (at - 1)}/lib";
  made = builtins.genList (n: drv (n + 1)) 10000;
in builtins.foldl' (last: d: builtins.seq d.drvPath d) null made # all of them, not what the last one needs
