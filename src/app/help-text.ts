// The parts of `--help` that are no list: what the program is, examples, what exit codes mean (DESIGN.md §9).

/** Above the lists. */
export const HELP_BEFORE = `\
Hostler crawls websites politely and keeps what it finds in WARC files and a data directory.
The same command again resumes the crawl; Ctrl-C stops it in order, a second one at once.`;

/** Below the lists. */
export const HELP_AFTER = `
Every option can also be set in cluster.config.ts; docs/CONFIGURATION.md lists them all, with more
for fine tuning.

Examples:
  node cluster.js https://example.com/ --max-pages 1000 --contact you@example.org
  node cluster.js --seeds seeds.txt --data ./books --scope prefix --exclude '/print/'
  node cluster.js http://localhost:8080/ --allow-net 127.0.0.0/8 --min-gap 0 --json
  node cluster.js why https://example.com/page
  echo '{"input":"HTTP://Example.com:80/a/../b"}' | node cluster.js urls

Exit codes:
  0    done, a limit that was asked for, or stopped in order
  1    audit: a rule was broken
  2    wrong usage or configuration, or no usable seed
  3    disk full, or not writable
  4    data directory damaged, in use, or of another version
  5    the bus of the cluster cannot be reached
  70   a bug of ours: please report it
  130  stopped at once
`;
