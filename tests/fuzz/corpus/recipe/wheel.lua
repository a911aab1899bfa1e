local forge = require "forge"
return forge.wheel { name = "x", version = "1.0", matrix = { python = { "3.13" }, archs = { { "80" }, { "80", "90" } } },
  exclude = { { archs = { "80" }, because = "no" } }, env = function(v) return { A = v.archs:join ";" } end,
  label = forge.label.local_version "sm{archs}", jobs = { MAX_JOBS = { memory = "1GiB" } }, prepare = "true" }
