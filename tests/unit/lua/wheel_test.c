/* forge.wheel: what it refuses, with the recipe's line and the nearest name; variants, labels, steps. */
#include "fixture.h"

static struct recipe r;

static int begin(void **state)
{
	recipe_begin(&r);
	return 0;
}

static int end(void **state)
{
	recipe_end(&r);
	return 0;
}

#define F "local forge = require 'forge'\n"

static void test_refused(void **state)
{
	static const struct { const char *fields, *part; } cases[] = {
		{ "name = 'x', version = '1', requries = {'a'}", "recipe.lua:2: forge.wheel: there is no field 'requries' (did you mean 'requires'?)" },
		{ "name = 'x'", "recipe.lua:2: forge.wheel: 'version' is missing (a string)" },
		{ "name = 3, version = '1'", "recipe.lua:2: forge.wheel: 'name' must be a string, not a number" },
		{ "name = 'x', version = '1', requires = {1}", "'requires' must be a list of strings or a function" },
		{ "name = 'x', version = '1', requires = {a = 'b'}", "'requires' must be a list of strings or a function" },
		{ "name = 'x', version = '1', matrix = {python = '3.13'}", "matrix: 'python' must be a list, not a string" },
		{ "name = 'x', version = '1', matrix = {python = {}}", "'python' has no values" },
		{ "name = 'x', version = '1', matrix = {python = {3.13}}", "the values of 'python' are strings, not a number" },
		{ "name = 'x', version = '1', matrix = {archs = {'80'}}", "matrix: 'archs' must be a list of strings" },
		{ "name = 'x', version = '1', matrix = {archs = {{'sm_80'}}}", "'sm_80' is no GPU architecture" },
		{ "name = 'x', version = '1', matrix = {archs = {{}}}", "a list without an architecture" },
		{ "name = 'x', version = '1', matrix = {['A-B'] = {'1'}}", "'A-B' is not a name for an axis" },
		{ "name = 'x', version = '1', matrix = {torch = {'2.11.0', '2.11.0'}}", "two variants are called torch2.11.0" },
		{ "name = 'x', version = '1', matrix = {python = {'3.13'}}, exclude = {{pyton = '3.13'}}", "exclude[1]: there is no axis 'pyton' (did you mean 'python'?)" },
		{ "name = 'x', version = '1', matrix = {python = {'3.13'}}, profiles = {a = {torch = '2'}}", "profiles.a: there is no axis 'torch'" },
		{ "name = 'x', version = '1', profiles = {a = 1}", "profiles: 'a' must be a table" },
		{ "name = 'x/../y', version = '1'", "is not a package name" },
		{ "name = 'x', version = '1+local'", "is not a public version" },
		{ "name = 'x', version = '1', subdir = '../up'", "leads out of the source" },
		{ "name = 'x', version = '1', subdir = '/abs'", "leads out of the source" },
		{ "name = 'x', version = '1', source = {}", "'source' is forge.sdist(), forge.url" },
		{ "name = 'x', version = '1', source = forge.git {url = 'u'}", "recipe.lua:2: forge.git: 'rev' is missing" },
		{ "name = 'x', version = '1', source = forge.sdist {name = 'y'}", "give name and version" },
		{ "name = 'x', version = '1', sources = {}", "sources has no 'main'" },
		{ "name = 'x', version = '1', source = forge.sdist(), sources = {}", "'source' or 'sources', not both" },
		{ "name = 'x', version = '1', sources = {main = 1}", "sources.main is forge.sdist()" },
		{ "name = 'x', version = '1', sources = {main = forge.sdist(), y = forge.sdist()}",
		  "sources.y is { <source>, at = \"path\" }" },
		{ "name = 'x', version = '1', sources = {main = forge.sdist(), y = {forge.sdist()}}", "'at' is missing" },
		{ "name = 'x', version = '1', sources = {main = forge.sdist(), y = {forge.sdist(), at = '../y'}}",
		  "at '../y' is not a path" },
		{ "name = 'x', version = '1', sources = {main = forge.sdist(), y = {forge.sdist(), at = '/y'}}",
		  "at '/y' is not a path" },
		{ "name = 'x', version = '1', sources = {main = forge.sdist(), y = {forge.sdist(), at = 'a b'}}",
		  "at 'a b' is not a path" },
		{ "name = 'x', version = '1', sources = {main = forge.sdist(), y = {forge.sdist(), at = 'a'}, "
		  "z = {forge.sdist(), at = 'a'}}", "stands at the same place" },
		{ "name = 'x', version = '1', source = forge.url {urls = {'u'}}", "forge.url: 'sha256' is missing" },
		{ "name = 'x', version = '1', label = {}", "'label' is forge.label" },
		{ "name = 'x', version = '1', label = forge.label.local_version 'cu{cuda}'", "label: there is no word 'cuda'" },
		{ "name = 'x', version = '1', label = forge.label.build_tag 'x'", "recipe.lua:2: label: the build tag 'x' must begin with a digit" },
		{ "name = 'x', version = '1', label = forge.label.local_version 'a-b'", "recipe.lua:2: label: the local version 'a-b' may hold" },
		{ "name = 'x', version = '1', jobs = {MAX_JOBS = {memori = 1}}", "jobs.MAX_JOBS: there is no field 'memori' (did you mean 'memory'?)" },
		{ "name = 'x', version = '1', test = {imprt = 'x'}", "test: there is no field 'imprt' (did you mean 'import'?)" },
		{ "name = 'x', version = '1', test = {gpu = 'no-such.py'}", "no-such.py" },
		{ "name = 'x', version = '1', matrix = {}", "matrix: it has no axes" },
		{ "name = 'x', version = '1', matrix = {pyton = {'3.13'}}", "matrix: there is no axis 'pyton' (did you mean 'python'?)" },
		{ "name = 'x', version = '1', matrix = {python = {'3.02'}}", "recipe.lua:2: python: there is no version '3.02'" },
		{ "name = 'x', version = '1', matrix = {cuda = {'13.9'}}", "recipe.lua:2: cuda: there is no version '13.9' (did you mean '13.0'?)" },
		{ "name = 'x', version = '1', matrix = {cuda = {'13'}}, cuda_from = {}", "recipe.lua:2: cuda: there is no version '13'" },
		{ "name = 'x', version = '1', toolchain = '13'", "'toolchain' must be a table or a function, not a string" },
		{ "name = 'x', version = '1', toolchain = forge.toolchain {gc = 13}", "forge.toolchain: there is no field 'gc' (did you mean 'gcc'?)" },
		{ "name = 'x', version = '1', toolchain = forge.toolchain {gcc = '13'}", "forge.toolchain: 'gcc' must be a whole number, not a string" },
		{ "name = 'x', version = '1', toolchain = forge.toolchain {gcc = 10}", "recipe.lua:2: toolchain: there is no gcc '10' (did you mean '11'?)" },
		{ "name = 'x', version = '1', cuda_from = forge.cuda.debian '13.0'", "recipe.lua:2: forge.cuda.debian has no CUDA '13.0', only 11.8, 12.4" },
		{ "name = 'x', version = '1', cuda_from = forge.cuda.debain '12.4'", "forge.cuda: there is no function 'debain' (did you mean 'debian'?)" },
		{ "name = 'x', version = '1', cuda_from = forge.cuda.redist {release = '13'}", "forge.cuda.redist: 'sha256' is missing" },
		{ "name = 'x', version = '1', cuda_from = forge.cuda.redist {release = '13', sha256 = 'a', urls = {'u'}}",
		  "recipe.lua:2: forge.cuda.redist: release '13' is not like 13.0.2" },
		{ "name = 'x', version = '1', matrix = {torch = {'2.10.0'}}, exclude = {{torch = '2.11.0'}}", "recipe.lua:2: exclude[1] excludes nothing: torch has no value '2.11.0' (did you mean '2.10.0'?)" },
		{ "name = 'x', version = '1', matrix = {archs = {{'80'}, {'80', '90'}}}, label = forge.label.local_version '{sm}', exclude = {{archs = {'90'}}}", "exclude[1] excludes nothing: archs has no value '90' (did you mean '80'?)" },
		{ "name = 'x', version = '1', matrix = {flavour = {'a'}}, exclude = {{flavour = 'a', because = 3}}", "exclude[1]: 'because' must be a string" },
		{ "name = 'x', version = '1', matrix = {flavour = {'a'}}, exclude = {'a'}", "exclude: '[1]' must be a table or a function" },
		{ "name = 'x', version = '1', matrix = {flavour = {'a'}}, profiles = {some = {flavour = 'grape'}}", "profiles.some selects nothing: flavour has no value 'grape'; it has a" },
		{ "name = 'x', version = '1', matrix = {flavour = {'a'}}, profiles = {['so me'] = {}}", "'so me' is not a name for a profile" },
		{ "name = 'x', version = '1', matrix = {archs = {{'80'}, {'90'}}}", "recipe.lua:2: matrix: sm80 and sm90 would both be x 1: tell them apart by the label" },
		{ "name = 'x', version = '1', matrix = {archs = {{'80'}, {'90'}}}, label = forge.label.local_version 'a'", "sm80 and sm90 would both be x 1+a" },
		{ "name = 'x', version = '1', matrix = {archs = {{'80'}}}, aliases = {X = 'arch'}", "aliases.X: there is no axis or field 'arch' (did you mean 'archs'?)" },
		{ "name = 'x', version = '1', aliases = {X = 'requires'}", "aliases.X: there is no axis or field 'requires'" },
		{ "name = 'x', version = '1', matrix = {torch = {'2.11.0'}}, stable_abi = {'tarch'}", "stable_abi[1]: there is no axis 'tarch' (did you mean 'torch'?)" },
		{ "name = 'x', version = '1', patches = {1}", "patches: '[1]' must be a string" },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char *text = mem_printf(F "return forge.wheel { %s }", cases[i].fields);
		recipe_fails(&r, text, cases[i].part);
		free(text);
	}
	recipe_fails(&r, F "return forge.wheel 'x'", "recipe.lua:2: forge.wheel takes a table, not a string");
}

static void derive_fails(const char *fields, const char *part)
{
	const struct eval_result *results;
	size_t count;
	char *text = mem_printf(F "return forge.wheel { name = 'x', version = '1', %s }", fields);
	if (!recipe_open(&r, text))
		fail_msg("%s", r.err.msg);
	assert_int_equal(eval_derive(r.eval, 0, &results, &count, &r.err), -1);
	if (!strstr(r.err.msg, part))
		fail_msg("\"%s\" is not in: %s", part, r.err.msg);
	free(text);
}

static void test_refused_while_deriving(void **state)
{
	derive_fails("patches = {'missing.patch'}", "missing.patch");
	derive_fails("env = {FORGE_SOURCE = 'x'}", "names that begin with FORGE_ are forge's own");
	derive_fails("env = function(v) return {A = v.torch} end", "variant: there is no axis 'torch'");
	derive_fails("prepare = function() return {} end", "'prepare' must be a string");
	derive_fails("env = function() return 3 end", "recipe.lua:2: forge.wheel: 'env' must be a table or nothing, not a number");
	derive_fails("requires = function() return {3} end", "recipe.lua:2: forge.wheel: 'requires' must be a list of strings or nothing");
	derive_fails("runtime = function() return 'x' end", "recipe.lua:2: forge.wheel: 'runtime' must be a list of strings or nothing");
	derive_fails("patches = {{'x', when = function() return 'yes' end}}", "recipe.lua:2: patches: 'when' must be true or false or nothing");
	derive_fails("matrix = {cuda = {'13.2'}}, cuda_from = function() return forge.cuda.redist {release = '13.0.2', sha256 = 'a', "
		"urls = {'u'}} end", "forge.wheel: cuda_from is of CUDA 13.0; this variant has 13.2");
	derive_fails("matrix = {cuda = {'13.2'}}, cuda_from = function() return 'x' end",
		"recipe.lua:2: forge.wheel: 'cuda_from' must be a table or nothing, not a string");
	derive_fails("timeout = 'soon'", "'soon' is no amount");
}

static const struct eval_drv *drv_of(const char *role)
{
	const struct eval_result *results;
	size_t count;
	assert_int_equal(eval_derive(r.eval, 0, &results, &count, &r.err), 0);
	for (size_t i = 0; i < count; i++)
		if (str_eq(results[i].role, role))
			return eval_drv(r.eval, results[i].drv);
	fail_msg("no %s", role);
	return NULL;
}

static const struct eval_drv *raw_of(void)
{
	const struct eval_drv *wheel = drv_of("wheel");
	return eval_drv(r.eval, wheel->inputs[0]);
}

static void open_wheel(const char *fields)
{
	char *text = mem_printf(F "return forge.wheel { name = 'x', version = '1.2', %s }", fields);
	if (!recipe_open(&r, text))
		fail_msg("%s", r.err.msg);
	free(text);
}

static void test_labels(void **state)
{
	static const struct { const char *label, *shown, *kind, *text; } cases[] = {
		{ "nil", "1.2", "none", "" },
		{ "forge.label.local_version 'cu{cuda}torch{torch}'", "1.2+cu130torch2.11", "local", "cu130torch2.11" },
		{ "forge.label.local_version '{torch.full}.cp{python}.sm{archs}'", "1.2+2.11.0.cp313.sm80.90", "local", "2.11.0.cp313.sm80.90" },
		{ "forge.label.local_version 'cu{cuda}{sm}torch{torch.full}'", "1.2+cu130sm80sm90torch2.11.0", "local", "cu130sm80sm90torch2.11.0" },
		{ "forge.label.local_version(function(v) return 'CU{cuda}.' .. v.archs:join '.' end)", "1.2+cu130.80.90", "local", "cu130.80.90" },
		{ "forge.label.build_tag '{torch.digits}.{cuda}'", "1.2-2110.130", "build", "2110.130" },
		{ "forge.label.local_version(function(v) return 'n' .. #v.archs end)", "1.2+n2", "local", "n2" },
		{ "forge.label.env('X_LOCAL_VERSION', 'cu{cuda}')", "1.2+cu130", "none", "" },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char *text = mem_printf("matrix = {python = {'3.13'}, torch = {'2.11.0'}, cuda = {'13.0'}, archs = {{'80', '90'}}},"
			" label = %s", cases[i].label);
		open_wheel(text);
		assert_int_equal(eval_tell(r.eval, 0, &r.err), 0);
		assert_string_equal(eval_target(r.eval, 0)->label, cases[i].shown);
		assert_string_equal(drv_env_get(drv_of("wheel")->drv, "label_kind"), cases[i].kind);
		assert_string_equal(drv_env_get(drv_of("wheel")->drv, "label_text"), cases[i].text);
		free(text);
	}
	assert_string_equal(drv_env_get(drv_of("wheel")->drv, "version"), "1.2+cu130");
	assert_string_equal(drv_env_get(raw_of()->drv, "X_LOCAL_VERSION"), "cu130");
	open_wheel("matrix = {cuda = {'13.0'}}, label = forge.label.env_version('X_VERSION', 'cu{cuda}')");
	assert_string_equal(drv_env_get(drv_of("wheel")->drv, "version"), "1.2+cu130");
	assert_string_equal(drv_env_get(drv_of("wheel")->drv, "label_kind"), "none");
	assert_non_null(drv_env_get(drv_of("wheel")->drv, "rules"));
	assert_string_equal(drv_env_get(raw_of()->drv, "X_VERSION"), "1.2+cu130");
}

static void test_architectures_as_text(void **state)
{
	open_wheel("matrix = {archs = {{'75', '90a', '100f'}}}, env = function(v)"
		" return {A = v.archs:join ',', B = v.archs:dotted ';'} end");
	assert_string_equal(drv_env_get(raw_of()->drv, "A"), "75,90a,100f");
	assert_string_equal(drv_env_get(raw_of()->drv, "B"), "7.5;9.0a;10.0f");
}

static void test_a_label_never_recompiles(void **state)
{
	open_wheel("label = forge.label.local_version 'one'");
	char *raw = mem_dup(raw_of()->path), *wheel = mem_dup(drv_of("wheel")->path);
	open_wheel("label = forge.label.local_version 'two', summary = 'other', test = {run = 'pass'}");
	assert_string_equal(raw, raw_of()->path);
	assert_string_not_equal(wheel, drv_of("wheel")->path);
	free(raw);
	free(wheel);
}

static void test_steps(void **state)
{
	recipe_file(&r, "a.patch", "a");
	recipe_file(&r, "b.patch", "b");
	open_wheel("matrix = {python = {'3.13'}, archs = {{'80', '90'}}}, requires = function(v) return {'wheel', 'ninja==1'} end,\n"
		"patches = {'a.patch', {'b.patch', when = function(v) return v.python == '3.13' end},\n"
		"  {'b.patch', when = function(v) return false end}},\n"
		"prepare = 'echo prepare', build = function(v) return 'build ' .. v.archs:join ',' end, subdir = 'py',\n"
		"config_settings = {['--x'] = 'y'}, jobs = {MAX_JOBS = {memory = '6GiB'}}, env = {A = 'b'}, timeout = '2h', memory = '8GiB'");
	const struct eval_drv *d = raw_of();
	assert_string_equal(drv_env_get(d->drv, "FORGE_PREPARE"), "echo prepare");
	assert_string_equal(drv_env_get(d->drv, "FORGE_BUILD"), "build 80,90");
	assert_string_equal(drv_env_get(d->drv, "FORGE_SUBDIR"), "py");
	assert_string_equal(drv_env_get(d->drv, "FORGE_CONFIG_SETTINGS"), "{\"--x\":\"y\"}");
	assert_string_equal(drv_env_get(d->drv, "inert"), "{\"MAX_JOBS\":{\"cores\":1,\"memory\":6442450944}}");
	assert_string_equal(drv_env_get(d->drv, "A"), "b");
	const char *patches = drv_env_get(d->drv, "FORGE_PATCHES");
	assert_true(str_ends(patches, "-b.patch") && strstr(patches, "-a.patch "));
	assert_null(drv_env_get(d->drv, "FORGE_INSTALL"));
	assert_null(drv_env_get(d->drv, "CUDA_HOME"));
	assert_int_equal(d->timeout_ms, 7200000);
	assert_int_equal(d->memory, (uint64_t)8 << 30);
	assert_string_equal(d->what, "build");
}

static void test_world_of_cuda(void **state)
{
	open_wheel("matrix = {python = {'3.13'}, torch = {'2.11.0'}, cuda = {'13.0'}}, requires = {'nvidia-cublas', 'ninja'}");
	const char *text = drv_env_get(raw_of()->drv, "world");
	struct json *world = json_parse(slice_of(text), 1 << 20, NULL), *mounts = json_get(world, "mounts");
	static const char *const at[] = { "/", "/cuda", "/env/bin", "/env/site-packages", "/toolchain", "/toolchain/floor" };
	assert_int_equal(json_count(mounts), 6);
	for (size_t i = 0; i < 6; i++)
		assert_string_equal(json_get_str(json_at(mounts, i), "at"), at[i]);
	/* The front, the five wheels of the toolkit, and the environment's wheels of libraries: cublas, torch's runtime. */
	const struct json *cuda = json_get(json_at(mounts, 1), "layers");
	assert_int_equal(json_count(cuda), 8);
	assert_false(str_ends(json_str(json_at(cuda, 0)), "/site-packages/nvidia/cu13"));
	for (size_t i = 1; i < 8; i++)
		assert_true(str_ends(json_str(json_at(cuda, i)), "/site-packages/nvidia/cu13"));
	assert_int_equal(json_count(json_get(json_at(mounts, 3), "layers")), 4); /* nvidia-cublas, nvidia-cuda-runtime, ninja, torch */
	assert_int_equal(json_count(json_get(json_at(mounts, 4), "layers")), 1); /* the stand-in for the compilers */
	assert_int_equal(json_count(json_get(json_at(mounts, 5), "layers")), 1);
	assert_string_equal(json_get_str(json_get(world, "links"), "/env/bin/python"), "/usr/bin/python3.13");
	assert_non_null(json_get_str(json_get(world, "files"), "/env/pyvenv.cfg"));
	assert_string_equal(drv_env_get(raw_of()->drv, "CUDA_HOME"), "/cuda");
	json_free(world);
}

/* A mount of the raw wheel's world: its layers. */
static const struct json *layers_at(const struct json *world, const char *at)
{
	const struct json *mounts = json_get(world, "mounts");
	for (size_t i = 0; i < json_count(mounts); i++)
		if (str_eq(json_get_str(json_at(mounts, i), "at"), at))
			return json_get(json_at(mounts, i), "layers");
	return NULL;
}

/* Owned: the world of the recipe's raw wheel. */
static struct json *world_of(const char *fields)
{
	open_wheel(fields);
	return json_parse(slice_of(drv_env_get(raw_of()->drv, "world")), 1 << 20, NULL);
}

static bool ends(const struct json *layers, size_t i, const char *end)
{
	return str_ends(json_str(json_at(layers, i)), end);
}

/* A wheel of torch's that the toolkit has itself in another version stays out of /cuda. */
static void test_world_of_cuda_13_2(void **state)
{
	_cleanup_json_ struct json *world = world_of("matrix = {torch = {'2.15.0'}, cuda = {'13.2'}}, requires = {'ninja'}");
	assert_int_equal(json_count(layers_at(world, "/cuda")), 7); /* the front, five wheels, torch's runtime; not its CCCL */
	assert_int_equal(json_count(layers_at(world, "/env/site-packages")), 4);
	assert_null(json_get_str(json_get(world, "files"), "/toolchain/gcc"));
}

/* Debian's packages: their folders where a CUDA_HOME has them, over the same base and with its gcc. */
static void test_world_of_cuda_debian(void **state)
{
	_cleanup_json_ struct json *wheels = world_of("matrix = {cuda = {'13.0'}}, requires = {'ninja'}");
	_cleanup_json_ struct json *world = world_of("matrix = {cuda = {'12.4'}}, requires = {'ninja'}");
	static const char *const at[][3] = {
		{ "/cuda/bin", "/bin", "/usr/bin" }, { "/cuda/include", "/include", "/usr/include" },
		{ "/cuda/lib", "/lib", "/usr/lib/x86_64-linux-gnu" }, { "/cuda/nvvm/bin", "/nvvm/bin", "/usr/lib/nvidia-cuda-toolkit/bin" },
		{ "/cuda/nvvm/libdevice", "/nvvm/libdevice", "/usr/lib/nvidia-cuda-toolkit/libdevice" },
	};
	for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
		const struct json *layers = layers_at(world, at[i][0]);
		assert_int_equal(json_count(layers), 2);
		assert_true(ends(layers, 0, at[i][1]) && ends(layers, 1, at[i][2]));
	}
	assert_int_equal(json_count(layers_at(world, "/cuda")), 1);
	assert_int_equal(json_count(layers_at(world, "/")), 1);
	assert_string_equal(json_str(json_at(layers_at(world, "/"), 0)), json_str(json_at(layers_at(wheels, "/"), 0)));
	assert_string_equal(json_str(json_at(layers_at(world, "/toolchain"), 0)), json_str(json_at(layers_at(wheels, "/toolchain"), 0)));
}

/* An nvcc that takes no gcc 12: another as a layer under the base, which stays what it is. */
static void test_world_of_another_gcc(void **state)
{
	static const struct { const char *fields, *gcc; } rows[] = {
		{ "matrix = {cuda = {'11.8'}}, requires = {'ninja'}", "11" },
		{ "matrix = {cuda = {'12.4'}}, requires = {'ninja'}, toolchain = forge.toolchain {gcc = 13}", "13" },
		{ "matrix = {flavour = {'a'}}, requires = {'ninja'}, toolchain = function(v) return forge.toolchain {gcc = 13} end", "13" },
		{ "matrix = {cuda = {'12.4'}}, requires = {'ninja'}, toolchain = forge.toolchain {gcc = 12}", NULL },
		{ "matrix = {cuda = {'11.8'}}, requires = {'ninja'}, toolchain = {mounts = {['/toolchain'] = {forge.text('x', 'y')}}}", NULL },
	};
	_cleanup_json_ struct json *usual = world_of("matrix = {cuda = {'13.0'}}, requires = {'ninja'}");
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		_cleanup_json_ struct json *world = world_of(rows[i].fields);
		const struct json *root = layers_at(world, "/"), *links = json_get(world, "links");
		assert_string_equal(json_str(json_at(root, 0)), json_str(json_at(layers_at(usual, "/"), 0)));
		assert_int_equal(json_count(root), rows[i].gcc ? 2 : 1);
		assert_true(str_eq(json_get_str(json_get(world, "files"), "/toolchain/gcc"), rows[i].gcc));
		const char *cc = json_get_str(links, "/usr/bin/c++");
		assert_true(rows[i].gcc ? cc && str_ends(cc, rows[i].gcc) : !cc);
	}
}

/* NVIDIA's archives: each a layer of /cuda, from each of the folders that the recipe names. */
static void test_world_of_cuda_redist(void **state)
{
	_cleanup_json_ struct json *world = world_of("matrix = {cuda = {'13.1'}}, requires = {'ninja'}, cuda_from = forge.cuda.redist {\n"
		"release = '13.1.0', sha256 = ('a'):rep(64), urls = {'https://a.example/x', 'https://b.example/y/'}}");
	assert_int_equal(json_count(layers_at(world, "/cuda")), 12);
	const struct drv *d = NULL;
	for (size_t i = 0; i < eval_drv_count(r.eval); i++)
		if (str_eq(eval_drv(r.eval, i)->drv->name, "cuda_nvcc-1.tar.xz"))
			d = eval_drv(r.eval, i)->drv;
	assert_non_null(d);
	assert_non_null(strstr(drv_env_get(d, "entry"), "\"urls\":[\"https://a.example/x/cuda_nvcc/linux-x86_64/cuda_nvcc-1.tar.xz\","
		"\"https://b.example/y/cuda_nvcc/linux-x86_64/cuda_nvcc-1.tar.xz\"]"));
	_cleanup_json_ struct json *some = world_of("matrix = {cuda = {'12.6'}}, requires = {'ninja'}, cuda_from = forge.cuda.redist {\n"
		"release = '12.6.3', sha256 = ('a'):rep(64), urls = {'https://a.example/'}, components = {'cuda_nvcc', 'cuda_cudart'}}");
	assert_int_equal(json_count(layers_at(some, "/cuda")), 3);
}

/* The build and the test see the image; what makes forge's own parts does not. */
static void test_world_of_an_image(void **state)
{
	open_wheel("base = forge.oci {image = 'r.example/team/cuda:13.0', links = {['/usr/bin/python3.13'] = '/opt/python'}}");
	struct json *build = json_parse(slice_of(drv_env_get(raw_of()->drv, "world")), 1 << 20, NULL);
	struct json *test = json_parse(slice_of(drv_env_get(drv_of("test")->drv, "world")), 1 << 20, NULL);
	const char *base = json_str(json_at(json_get(json_at(json_get(build, "mounts"), 0), "layers"), 0));
	assert_string_equal(base, json_str(json_at(json_get(json_at(json_get(test, "mounts"), 0), "layers"), 0)));
	const struct eval_drv *rootfs = NULL;
	for (size_t i = 0; i < eval_drv_count(r.eval); i++)
		if (str_eq(eval_drv(r.eval, i)->drv->builder, "builtin:oci-rootfs"))
			rootfs = eval_drv(r.eval, i);
	assert_non_null(rootfs);
	assert_string_equal(rootfs->drv->name, "oci-cuda");
	assert_string_equal(drv_env_get(rootfs->drv, "links"), "{\"/usr/bin/python3.13\":\"/opt/python\"}");
	assert_int_equal(strlen(drv_env_get(rootfs->drv, "diff_ids")), 2 * 64 + 1);
	assert_int_equal(rootfs->drv->input_count, 2);
	const struct drv *layer = eval_drv(r.eval, rootfs->inputs[0])->drv;
	assert_true(str_starts(layer->name, "layer-") && layer->outputs[0].kind == DRV_OUT_FIXED);
	const char *entry = drv_env_get(layer, "entry");
	assert_true(strstr(entry, "\"image\":\"r.example/team/cuda\"") && strstr(entry, "\"size\":1000") && strstr(entry, "\"from\":\"oci\""));
	/* What shared objects are linked with is of Debian's base. */
	assert_true(layers_at(build, "/toolchain") && !layers_at(build, "/toolchain/floor"));
	json_free(build);
	json_free(test);
	recipe_fails(&r, F "return forge.oci {digest = 'sha256:0'}", "recipe.lua:2: forge.oci: 'image' is missing (a string)");
	recipe_fails(&r, F "return forge.oci {image = 'a', links = {'x'}}", "recipe.lua:2: forge.oci: links: '1' is not an absolute path");
	recipe_fails(&r, F "return forge.oci {image = 'a', links = {['/x'] = 1}}", "recipe.lua:2: forge.oci: links: '/x' must be a string");
	derive_fails("base = forge.oci {image = 'r.example/a:1'}, packages = {'b'}", "the base r.example/a:1 is an image");
}

/* The toolkit of an image, over Debian and over the same image: in both places where it is looked for. */
static void test_world_of_cuda_image(void **state)
{
	static const char image[] = "forge.oci {image = 'r.example/team/cuda:13.0'}";
	static const char *const at[][3] = {
		{ "/cuda", "", "/usr/local/cuda-13.0" },
		{ "/cuda/include", "/include", "/usr/local/cuda-13.0/targets/x86_64-linux/include" },
		{ "/cuda/lib", "/lib", "/usr/local/cuda-13.0/targets/x86_64-linux/lib" },
		{ "/cuda/targets/x86_64-linux/include", "/include", "/usr/local/cuda-13.0/targets/x86_64-linux/include" },
		{ "/cuda/targets/x86_64-linux/lib", "/lib", "/usr/local/cuda-13.0/targets/x86_64-linux/lib" },
	};
	for (int own = 0; own < 2; own++) {
		char *fields = mem_printf("matrix = {cuda = {'13.0'}}, requires = {'ninja'}, cuda_from = forge.cuda.image {image = %s, "
			"cuda = '13.0'}%s%s", image, own ? ", base = " : "", own ? image : "");
		_cleanup_json_ struct json *world = world_of(fields);
		const char *root = json_str(json_at(layers_at(world, "/"), 0));
		for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
			const struct json *layers = layers_at(world, at[i][0]);
			assert_int_equal(json_count(layers), 2);
			assert_true(ends(layers, 0, at[i][1]) && ends(layers, 1, at[i][2]));
			assert_int_equal(str_starts(json_str(json_at(layers, 1)), root), own);
		}
		assert_int_equal(json_count(layers_at(world, "/")), 1);
		assert_int_equal(json_count(layers_at(world, "/toolchain")), 1);
		free(fields);
	}
}

static void test_set(void **state)
{
	struct json *set = json_new_obj();
	json_set_str(set, "version", "9.9");
	r.options.set = set;
	open_wheel("source = forge.sdist()");
	assert_string_equal(eval_target(r.eval, 0)->version, "9.9");
	assert_string_equal(drv_env_get(drv_of("wheel")->drv, "version"), "9.9");
	json_set_str(set, "vershun", "1");
	recipe_fails(&r, F "return forge.wheel { name = 'x', version = '1' }", "--set: there is no field 'vershun' (did you mean 'version'?)");
	json_unset(set, "vershun");
	json_set_str(set, "requires", "1");
	recipe_fails(&r, F "return forge.wheel { name = 'x', version = '1' }", "'requires' is not a text");
	r.options.set = NULL;
	json_free(set);
}

static void test_exclude(void **state)
{
	size_t first;
	open_wheel("matrix = {flavour = {'a', 'b', 'c'}, archs = {{'80'}, {'80', '90'}}}, label = forge.label.local_version '{sm}{flavour}',\n"
		"exclude = {{flavour = 'a', archs = {'80'}, because = 'no reason'}, {flavour = {'b', 'c'}, archs = {'80'}},\n"
		"function(v) return v.flavour == 'b' and 'no b' end, function(v) return v.flavour == 'c' end}");
	assert_int_equal(eval_target_count(r.eval), 6);
	assert_int_equal(eval_default(r.eval, &first, &r.err), 0);
	assert_int_equal(first, 3);
	for (size_t i = 0; i < 6; i++)
		assert_int_equal(eval_tell(r.eval, i, &r.err), 0);
	assert_string_equal(eval_target(r.eval, 0)->excluded, "no reason");
	assert_null(eval_target(r.eval, 3)->excluded);
	assert_string_equal(eval_target(r.eval, 1)->excluded, "excluded by the recipe");
	assert_string_equal(eval_target(r.eval, 4)->excluded, "no b");
	assert_string_equal(eval_target(r.eval, 5)->excluded, "excluded by the recipe");
	assert_string_equal(eval_target(r.eval, 3)->name, "sm80_90-flavoura");
	_cleanup_buf_ struct buf axes = BUF_INIT;
	json_write(eval_target(r.eval, 3)->axes, 0, &axes);
	assert_string_equal(axes.data, "{\"archs\":[\"80\",\"90\"],\"flavour\":\"a\"}");
	open_wheel("matrix = {flavour = {'a'}}, exclude = function(v) return 3 end");
	assert_int_equal(eval_tell(r.eval, 0, &r.err), -1);
	assert_non_null(strstr(r.err.msg, "recipe.lua:2: forge.wheel: 'exclude' must be a string or true or false or nothing, not a number"));
}

/* What torch's locked wheels and nvcc's release say of two axes. */
static void test_impossible(void **state)
{
	static const struct { const char *matrix, *why; } cases[] = {
		{ "torch = {'2.11.0'}, cuda = {'13.0'}", NULL },
		{ "torch = {'2.10.0'}, cuda = {'13.0'}", "torch 2.10.0 is built for CUDA 12.8; this variant has 13.0" },
		{ "torch = {'2.6.0'}, cuda = {'13.0'}", "torch 2.6.0 is built for CUDA 12.4; this variant has 13.0" },
		{ "torch = {'2.6.0+cu118'}, cuda = {'13.0'}", "torch 2.6.0+cu118 is built for CUDA 11.8; this variant has 13.0" },
		{ "torch = {'2.6.0+cu130'}, cuda = {'13.0'}", NULL },
		{ "torch = {'0.9.0'}, cuda = {'13.0'}", "torch 0.9.0 is built without CUDA; this variant has 13.0" },
		{ "torch = {'2.6.0'}, cuda = {'12.4'}", NULL },
		{ "torch = {'2.6.0'}, cuda = {'11.8'}", "torch 2.6.0 is built for CUDA 12.4; this variant has 11.8" },
		{ "torch = {'2.14.0'}, cuda = {'13.0'}", NULL },
		{ "torch = {'2.14.0'}, cuda = {'13.2'}", "torch 2.14.0 is built for CUDA 13.0; this variant has 13.2" },
		{ "torch = {'2.15.0'}, cuda = {'13.2'}", NULL },
		{ "torch = {'2.15.0'}, cuda = {'13.0'}", "torch 2.15.0 is built for CUDA 13.2; this variant has 13.0" },
		{ "torch = {'2.14.0'}, cuda = {'13.2'}}, other_cuda_minor = true, aliases = {", NULL },
		{ "torch = {'2.15.0'}, cuda = {'13.0'}}, other_cuda_minor = true, aliases = {", NULL },
		{ "torch = {'2.6.0'}, cuda = {'11.8'}}, other_cuda_minor = true, aliases = {", "torch 2.6.0 is built for CUDA 12.4; this variant has 11.8" },
		{ "torch = {'2.15.0'}, cuda = {'12.4'}}, other_cuda_minor = true, aliases = {", "torch 2.15.0 is built for CUDA 13.2; this variant has 12.4" },
		{ "cuda = {'11.8'}}, toolchain = forge.toolchain {gcc = 12}, aliases = {",
		  "nvcc of CUDA 11.8 accepts gcc up to 11; this variant has gcc 12" },
		{ "cuda = {'12.4'}}, toolchain = forge.toolchain {gcc = 13}, aliases = {", NULL },
		{ "cuda = {'11.8'}, archs = {{'90a'}}", "nvcc of CUDA 11.8 does not know sm_90a: it knows 35, 37, 50," },
		{ "cuda = {'12.4'}, archs = {{'90a', '50'}}", NULL },
		{ "cuda = {'12.4'}, archs = {{'100'}}", "nvcc of CUDA 12.4 does not know sm_100" },
		{ "cuda = {'13.2'}, archs = {{'75', '121f', '88'}}", NULL },
		{ "cuda = {'13.0'}, archs = {{'80', '70'}}", "nvcc of CUDA 13.0 does not know sm_70: it knows 75, 80," },
		{ "cuda = {'13.0'}, archs = {{'90a', '120f', '103'}}", NULL },
	};
	const struct eval_result *results;
	size_t count;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char *text = mem_printf("matrix = {%s}", cases[i].matrix);
		open_wheel(text);
		assert_int_equal(eval_derive(r.eval, 0, &results, &count, &r.err), 0);
		const char *why = eval_target(r.eval, 0)->impossible;
		if (!cases[i].why)
			assert_true(!why && count == 2);
		else if (!why || !strstr(why, cases[i].why))
			fail_msg("%s: \"%s\" is not in: %s", cases[i].matrix, cases[i].why, why ? why : "(possible)");
		free(text);
	}
}

/* A Python that lib/ knows and the lock's torch does not. */
static void test_what_torch_serves(void **state)
{
	recipe_holds(&r, "require('forge.torch').serves('2.11.0', '3.13')");
	recipe_holds(&r, "require('forge.torch').serves('2.11.0', '3.13t')");
	recipe_holds(&r, "not require('forge.torch').serves('2.11.0', '3.14')");
	recipe_holds(&r, "require('forge.torch').lacks_python('2.11.0', '3.14') =="
		" 'torch 2.11.0 has no wheels for Python 3.14: it has them for 3.11, 3.13, 3.13t'");
	recipe_holds(&r, "require('forge.torch').lacks_cuda('2.11.0', '13.2', {{name = 'cuda-toolkit', version = '13.0.2'}}, true) == nil");
	recipe_holds(&r, "require('forge.torch').lacks_cuda('2.11.0', '13.2', {{name = 'cuda-toolkit', version = '13.0.2'}}) ~= nil");
	recipe_holds(&r, "require('forge.torch').lacks_cuda('2.11.0', '12.8', {{name = 'cuda-toolkit', version = '13.0.2'}}, true) ~= nil");
	recipe_holds(&r, "require('forge.nvcc').lacks_gcc('11.8', 12) =="
		" 'nvcc of CUDA 11.8 accepts gcc up to 11; this variant has gcc 12'");
	recipe_holds(&r, "not require('forge.nvcc').lacks_gcc('12.4', 13) and not require('forge.nvcc').lacks_gcc('99.9', 99)");
}

/* "cp313-torch2.11 cp313-torch2.12": the variants of a profile. */
static void profile_is(const char *name, const char *wanted)
{
	_cleanup_free_ bool *marked = mem_alloc(eval_target_count(r.eval) + 1);
	_cleanup_buf_ struct buf got = BUF_INIT;
	if (eval_profile(r.eval, name, marked, &r.err) < 0)
		fail_msg("%s: %s", name, r.err.msg);
	for (size_t i = 0; i < eval_target_count(r.eval); i++)
		if (marked[i])
			buf_printf(&got, "%s%s", got.len ? " " : "", eval_target(r.eval, i)->name);
	assert_string_equal(got.data ? got.data : "", wanted);
}

static void test_profiles(void **state)
{
	_cleanup_str_list_ struct str_list names = STR_LIST_INIT;
	open_wheel("matrix = {python = {'3.13'}, torch = {'2.9.0', '2.11.0', '2.11.1'}, debug = {'no', 'yes'}},\n"
		"label = forge.label.local_version 'torch{torch.full}{debug}', exclude = {{torch = '2.9.0', debug = 'no'}},\n"
		"profiles = {slow = {debug = 'yes', torch = {'2.9.0', '2.11.0'}}, odd = function(v) return v.torch == '2.11.1' end,\n"
		"none = {torch = '2.9.0', debug = 'no'}, python313 = {debug = 'no'}, bad = function() return 'all' end}");
	static const char *const known[] = { "all", "bad", "default", "none", "odd", "python313", "pytorch211", "pytorch29",
		"slow", "stable" };
	eval_profiles(r.eval, &names);
	assert_int_equal(names.count, sizeof known / sizeof *known);
	for (size_t i = 0; i < names.count; i++)
		assert_string_equal(names.items[i], known[i]);
	profile_is("default", "cp313-torch2.9-debugyes");
	profile_is("pytorch29", "cp313-torch2.9-debugyes");
	profile_is("pytorch211", "cp313-torch2.11.0-debugno cp313-torch2.11.0-debugyes cp313-torch2.11.1-debugno cp313-torch2.11.1-debugyes");
	profile_is("slow", "cp313-torch2.9-debugyes cp313-torch2.11.0-debugyes");
	profile_is("odd", "cp313-torch2.11.1-debugno cp313-torch2.11.1-debugyes");
	profile_is("python313", "cp313-torch2.11.0-debugno cp313-torch2.11.1-debugno"); /* the recipe's own */
	profile_is("none", "");
	profile_is("stable", "cp313-torch2.9-debugyes cp313-torch2.11.0-debugno cp313-torch2.11.0-debugyes "
		"cp313-torch2.11.1-debugno cp313-torch2.11.1-debugyes");
	bool marked[6];
	assert_int_equal(eval_profile(r.eval, "bad", marked, &r.err), -1);
	assert_non_null(strstr(r.err.msg, "recipe.lua:5: profiles: 'bad' must be true or false or nothing, not a string"));
}

/* The newest Python of each torch: numbers, not texts; free-threaded ones only where there is nothing else. */
static void test_the_newest_python(void **state)
{
	recipe_holds(&r, "(function()\n"
		"  local choice, all = require 'forge.choice', {}\n"
		"  for i, cell in ipairs { {'3.9', '2.11.0'}, {'3.13', '2.11.0'}, {'3.13t', '2.11.0'}, {'3.14', '2.11.0'}, {'3.11', '2.12.0'},\n"
		"      {'3.13', '2.12.0'}, {'3.13t', '2.13.0'} } do\n"
		"    all[i] = { python = cell[1], torch = cell[2] }\n"
		"  end\n"
		"  local _, profile = choice.profiles({}, { python = {}, torch = {} }, all, function(i) return i == 6 and 'no' or nil end)\n"
		"  return table.concat(profile 'stable', ' ') == '2 5 7'\n"
		"end)()");
}

static void test_env(void **state)
{
	struct json *env = json_new_obj();
	r.options.env = env;
	const char *fields = "matrix = {archs = {{'80'}}, flavour = {'a'}}, exclude = {{flavour = 'a', archs = {'80'}}},\n"
		"aliases = {TORCH_CUDA_ARCH_LIST = 'archs', X_VERSION = 'version'}, jobs = {MAX_JOBS = {}},\n"
		"env = {LEVEL = '1', ARCHS = 'none'}";
	json_set_str(env, "TORCH_CUDA_ARCH_LIST", "8.0;9.0a 120");
	json_set_str(env, "X_VERSION", "7");
	json_set_str(env, "LEVEL", "3");
	open_wheel(fields);
	assert_int_equal(eval_target_count(r.eval), 1);
	assert_string_equal(eval_target(r.eval, 0)->name, "sm80_90a_120-flavoura");
	assert_string_equal(eval_target(r.eval, 0)->version, "7");
	assert_string_equal(drv_env_get(raw_of()->drv, "LEVEL"), "3");
	static const struct { const char *name, *value, *part; } wrong[] = {
		{ "TORCH_CUDA_ARCH_LISTS", "80", "recipe.lua:4: --env: nothing in the recipe reads 'TORCH_CUDA_ARCH_LISTS' (did you mean 'TORCH_CUDA_ARCH_LIST'?)" },
		{ "LEVVEL", "1", "nothing in the recipe reads 'LEVVEL' (did you mean 'LEVEL'?)" },
		{ "ZZZZZZZZ", "1", "nothing in the recipe reads 'ZZZZZZZZ'; it has TORCH_CUDA_ARCH_LIST, X_VERSION, ARCHS, LEVEL" },
		{ "MAX_JOBS", "4", "'MAX_JOBS' is filled in by the scheduler" },
		{ "TORCH_CUDA_ARCH_LIST", "9.0+PTX", "'90+PTX' is no GPU architecture" },
		{ "TORCH_CUDA_ARCH_LIST", " ", "a list without an architecture" },
	};
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		char *text = mem_printf(F "\n\nreturn forge.wheel { name = 'x', version = '1', %s }", fields);
		struct json *one = json_new_obj();
		json_set_str(one, wrong[i].name, wrong[i].value);
		r.options.env = one;
		recipe_fails(&r, text, wrong[i].part);
		r.options.env = NULL;
		json_free(one);
		free(text);
	}
	json_free(env);
}

static void test_other_sources(void **state)
{
	recipe_file(&r, "src/setup.py", "");
	recipe_file(&r, "x.tar.gz", "");
	open_wheel("source = forge.path 'src'");
	assert_true(str_ends(drv_env_get(raw_of()->drv, "FORGE_SOURCE"), "-src"));
	open_wheel("source = forge.path 'x.tar.gz'");
	assert_true(strlen(drv_env_get(raw_of()->drv, "FORGE_SOURCE")) == 53); /* the placeholder of the unpacked one */
	open_wheel("source = forge.url {urls = {'file:///x/y-1.tgz', 'file:///z'}, sha256 = ('a'):rep(64)}");
	assert_non_null(raw_of());
	bool found = false;
	for (size_t i = 0; i < eval_drv_count(r.eval); i++)
		found = found || str_eq(eval_drv(r.eval, i)->drv->name, "y-1.tgz");
	assert_true(found);
}

static const struct drv *named(const char *name)
{
	for (size_t i = 0; i < eval_drv_count(r.eval); i++)
		if (str_eq(eval_drv(r.eval, i)->drv->name, name))
			return eval_drv(r.eval, i)->drv;
	fail_msg("no derivation is called %s", name);
	return NULL;
}

/* A repository is one fixed derivation of a folder; what it is fetched by is in no dependent's hash. */
static void test_git_source(void **state)
{
	open_wheel("source = forge.git {url = 'https://h.example/a/Inner.git/', rev = 'v1', submodules = {'b', 'a'}}");
	assert_non_null(raw_of());
	const struct drv *d = named("Inner-0123456789ab");
	assert_string_equal(d->builder, "builtin:fetch-git");
	assert_int_equal(d->outputs[0].kind, DRV_OUT_FIXED);
	assert_int_equal(d->outputs[0].method, DRV_NAR);
	const char *entry = drv_env_get(d, "entry");
	assert_non_null(strstr(entry, "\"submodules\":[\"b\",\"a\"]"));
	assert_non_null(strstr(entry, "\"rev\":\"0123456789abcdef0123456789abcdef01234567\""));
	assert_string_equal(drv_env_get(raw_of()->drv, "FORGE_SOURCE"), d->outputs[0].path);
	open_wheel("source = forge.git {url = 'https://h.example/a/x', rev = 'v1', submodules = {}}");
	raw_of();
	assert_non_null(strstr(drv_env_get(named("x-0123456789ab"), "entry"), "\"submodules\":false"));
}

/* Several sources are laid into one folder; a main one alone is the same as `source`. */
static void test_several_sources(void **state)
{
	recipe_file(&r, "src/setup.py", "");
	open_wheel("sources = {main = forge.sdist(), one = {forge.git {url = 'https://h.example/one', rev = 'v1'}, at = 'b/c'},\n"
		"two = {forge.path 'src', at = 'b'}, three = {forge.sdist {name = 'other', version = '3'}, at = 'a.d/x'}}");
	assert_true(strlen(drv_env_get(raw_of()->drv, "FORGE_SOURCE")) == 53);
	const struct drv *d = named("x-1.2-sources");
	assert_string_equal(drv_env_get(d, "at"), "a.d/x b b/c");
	struct slice first, second, third, rest = slice_of(drv_env_get(d, "from"));
	slice_cut(rest, ' ', &first, &rest);
	slice_cut(rest, ' ', &second, &third);
	assert_true(slice_is(third, named("one-0123456789ab")->outputs[0].path));
	assert_true(second.n > 4 && memcmp(second.p + second.n - 4, "-src", 4) == 0);
	assert_non_null(named("other-3.tar.gz"));
	open_wheel("sources = {main = forge.sdist()}");
	_cleanup_free_ char *alone = mem_dup(raw_of()->path);
	open_wheel("source = forge.sdist()");
	assert_string_equal(alone, raw_of()->path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refused), cmocka_unit_test(test_refused_while_deriving),
		cmocka_unit_test(test_labels), cmocka_unit_test(test_architectures_as_text), cmocka_unit_test(test_a_label_never_recompiles),
		cmocka_unit_test(test_steps), cmocka_unit_test(test_world_of_cuda), cmocka_unit_test(test_world_of_cuda_13_2),
		cmocka_unit_test(test_world_of_cuda_debian), cmocka_unit_test(test_world_of_another_gcc),
		cmocka_unit_test(test_world_of_cuda_redist), cmocka_unit_test(test_world_of_an_image),
		cmocka_unit_test(test_world_of_cuda_image), cmocka_unit_test(test_set),
		cmocka_unit_test(test_exclude), cmocka_unit_test(test_impossible), cmocka_unit_test(test_what_torch_serves),
		cmocka_unit_test(test_profiles), cmocka_unit_test(test_the_newest_python), cmocka_unit_test(test_env),
		cmocka_unit_test(test_other_sources), cmocka_unit_test(test_git_source), cmocka_unit_test(test_several_sources),
	};
	return cmocka_run_group_tests(tests, begin, end);
}
