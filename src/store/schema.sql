-- What a store knows of its objects.  Version 3 of the format (PRAGMA user_version).
-- Hashes and paths are kept as people and Nix write them, so that `sqlite3 db.sqlite` answers questions.

-- One row for each object that is whole, verified once and durable: it is written after the
-- object's last byte.  A path that has no row does not exist, whatever lies in objects/.
CREATE TABLE path (
	id         INTEGER PRIMARY KEY,
	base       TEXT NOT NULL UNIQUE,        -- "<digest>-<name>": the name in objects/
	nar_hash   BLOB NOT NULL CHECK (length(nar_hash) = 32),
	nar_size   INTEGER NOT NULL,
	ca         TEXT NOT NULL,               -- "fixed:r:sha256:…", "fixed:sha256:…", "text:sha256:…"
	deriver    TEXT,                        -- base of a .drv; it need not be in the store any more
	registered INTEGER NOT NULL,            -- seconds since 1970
	used       INTEGER NOT NULL DEFAULT 0   -- likewise: when a forge last found it here, to the day; 0: never since
) STRICT;

-- What an object's bytes refer to.  An object can't outlive what it needs (RESTRICT), and takes
-- its own references with it.
CREATE TABLE ref (
	referrer  INTEGER NOT NULL REFERENCES path(id) ON DELETE CASCADE,
	reference INTEGER NOT NULL REFERENCES path(id) ON DELETE RESTRICT,
	PRIMARY KEY (referrer, reference)
) STRICT, WITHOUT ROWID;
CREATE INDEX ref_reference ON ref(reference);

-- What an output of a derivation was found to be.  It is worth nothing without its object.
CREATE TABLE realisation (
	id   TEXT NOT NULL PRIMARY KEY,         -- "sha256:<base16>!<output>"
	path INTEGER NOT NULL REFERENCES path(id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX realisation_path ON realisation(path);

-- Which result a compiler's command had for which files (compile/manifest.h).  It goes with its newest result.
CREATE TABLE manifest (
	command BLOB NOT NULL PRIMARY KEY,      -- hash of the exact command
	body    BLOB NOT NULL,
	path    INTEGER NOT NULL REFERENCES path(id) ON DELETE CASCADE
) STRICT;
CREATE INDEX manifest_path ON manifest(path);

-- What people want kept.  RESTRICT: a root's object can't be deleted by mistake.
CREATE TABLE root (
	name TEXT NOT NULL PRIMARY KEY,         -- also a link in roots/
	path INTEGER NOT NULL REFERENCES path(id) ON DELETE RESTRICT,
	data TEXT                               -- JSON of whoever set it
) STRICT, WITHOUT ROWID;
CREATE INDEX root_path ON root(path);

-- What was run, newest last.  History: it refers to paths by name and outlives them.
CREATE TABLE build (
	id          INTEGER PRIMARY KEY,
	drv         TEXT NOT NULL,              -- whole store path
	name        TEXT NOT NULL,
	what        TEXT NOT NULL,              -- "fetch", "unpack", "build", "finish", "test", "compile"
	log         TEXT,                       -- below the store's folder
	start_ms    INTEGER NOT NULL,           -- since 1970
	end_ms      INTEGER NOT NULL,
	cpu_ms      INTEGER NOT NULL,
	peak_memory INTEGER NOT NULL,           -- bytes
	status      INTEGER NOT NULL,           -- 0, or forge's exit status for the failure
	path        TEXT,                       -- whole store path; NULL on failure
	note        TEXT                        -- of a compile: "hit", "miss", "in place: …"
) STRICT;
CREATE INDEX build_drv ON build(drv);
CREATE INDEX build_name ON build(name);

PRAGMA user_version = 3;
