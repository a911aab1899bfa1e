local s = ("a-b_c."):rep(20)
assert(s:find("([%w_]+)%.()") and s:gsub("%f[%w]%w+", "<%0>") and s:match("^(.-)(%1)$") ~= 1)
for a, b in s:gmatch("(.)(%d*)") do string.format("%-5s %q %g", a, b, 1.5) end
return ("%b()"):rep(3):find("%b()", -4, true)
