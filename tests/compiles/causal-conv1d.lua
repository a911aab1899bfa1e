-- torch's ninja: the host's part and the smallest kernel, for two architectures.
return require "objects" {
  name = "causal-conv1d", version = "1.6.2.post1", torch = "2.11.0", cuda = "13.0",
  requires = { "setuptools==80.9.0", "wheel", "packaging", "ninja" },
  env = { CAUSAL_CONV1D_FORCE_BUILD = "TRUE" },
  build = [[
    # two of its nine architectures
    sed -i 's/cc_flag.append("-gencode")/pass/
      s/cc_flag.append(\("arch=compute_[89]0,.*"\))/cc_flag += ["-gencode", \1]/
      s/cc_flag.append("arch=.*/pass/' setup.py
    objects=/build/src/build/temp.linux-x86_64-cpython-313/csrc
    only $objects/causal_conv1d.o $objects/causal_conv1d_update.o
    PATH=/build/only:$PATH python setup.py -q build_ext || true
  ]],
}
