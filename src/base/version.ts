// The version of this program: in the User-Agent, in WARC files, in `--version`. A constant, not read from package.json at run time, so that
// no thread needs the file; a test holds the two together.

/** As in package.json. */
export const VERSION = '0.1.0';

/** The name robots.txt files know this crawler by (RFC 9309 §2.2.1), and the first word of its User-Agent. */
export const PRODUCT_TOKEN = 'hostler';
