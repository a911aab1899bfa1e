#include "lock/signed.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "core/fs.h"
#include "core/mem.h"
#include "core/proc.h"

#define TEXT_LIMIT (64u << 20)
#define BEGIN "-----BEGIN PGP SIGNED MESSAGE-----"

const char *signed_keyring(void)
{
	const char *own = getenv("FORGE_DEBIAN_KEYRING");
	return own && *own ? own : "/usr/share/keyrings/debian-archive-keyring.gpg";
}

/* line is "[GNUPG:] <keyword> …"? */
static bool is_status(struct slice line, const char *keyword)
{
	struct slice head, word;
	if (!slice_cut(line, ' ', &head, &line) || !slice_is(head, "[GNUPG:]"))
		return false;
	slice_cut(line, ' ', &word, &line);
	return slice_is(word, keyword);
}

int signed_status(struct slice status, struct err *err)
{
	struct slice line;
	static const char *const broken[] = { "ERROR", "NODATA", "UNEXPECTED", "BADARMOR" };
	size_t good = 0, texts = 0, unknown = 0;
	while (status.n) {
		slice_cut(status, '\n', &line, &status);
		if (is_status(line, "BADSIG"))
			return err_set(err, ERR_INPUT, "its signature is wrong: it was changed on the way");
		for (size_t i = 0; i < sizeof broken / sizeof *broken; i++)
			if (is_status(line, broken[i]))
				return err_set(err, ERR_INPUT, "it is not one signed text");
		/* EXPSIG, EXPKEYSIG and REVKEYSIG take the place of GOODSIG and so do not count */
		good += is_status(line, "GOODSIG");
		texts += is_status(line, "PLAINTEXT");
		unknown += is_status(line, "NO_PUBKEY");
	}
	if (texts != 1)
		return err_set(err, ERR_INPUT, "it is not one signed text");
	if (good == 0)
		return err_set(err, ERR_INPUT, unknown ? "it is signed by no key of the keyring"
		                                       : "it has no signature that is valid today");
	return 0;
}

static int run_gpgv(const char *keyring, const char *file, const char *out, struct buf *status, struct buf *said,
	struct err *err)
{
	/* --keyring takes a name without a slash as one in gpg's own folder */
	_cleanup_free_ char *path = fs_real(keyring, err);
	const char *argv[] = { "gpgv", "--status-fd", "1", "--keyring", path, "--output", out, file, NULL };
	const char *env[] = { "LC_ALL=C", "PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/nonexistent", NULL };
	struct proc_spec spec = PROC_SPEC_INIT;
	struct proc_result result;
	spec.argv = argv;
	spec.env = env;
	if (!path || proc_run(&spec, status, said, 1 << 20, &result, err) < 0)
		return path ? err_add(err, "gpgv (of the package gpgv) verifies Debian's signatures") : -1;
	return 0;
}

static int verify(const struct buf *text, const char *keyring, const char *folder, struct buf *out, struct err *err)
{
	_cleanup_free_ char *in = fs_join(folder, "InRelease");
	_cleanup_free_ char *verified = fs_join(folder, "Release");
	_cleanup_buf_ struct buf status = BUF_INIT, said = BUF_INIT;
	if (fs_write_file(AT_FDCWD, in, text->data, text->len, 0600, err) < 0 ||
	    run_gpgv(keyring, in, verified, &status, &said, err) < 0 ||
	    signed_status(buf_slice(&status), err) < 0)
		return -1;
	return fs_read_file(AT_FDCWD, verified, TEXT_LIMIT, out, err);
}

int signed_text(const struct buf *text, const char *keyring, const char *folder, struct buf *out, struct err *err)
{
	_cleanup_free_ char *name = NULL;
	if (!fs_exists(keyring))
		return err_set(err, ERR_FAIL, "%s, the keys of Debian's archive, is not there: install the package "
			"debian-archive-keyring or set FORGE_DEBIAN_KEYRING", keyring);
	if (text->len < sizeof BEGIN || memcmp(text->data, BEGIN, sizeof BEGIN - 1) != 0)
		return err_set(err, ERR_INPUT, "it is not a signed text");
	_cleanup_close_ int dir = fs_open_dir(folder, err);
	if (dir < 0 || fs_temp_dir(dir, "gpgv", &name, err) < 0)
		return -1;
	_cleanup_free_ char *own = fs_join(folder, name);
	int rc = verify(text, keyring, own, out, err);
	fs_remove_tree(dir, name, NULL);
	return rc;
}
