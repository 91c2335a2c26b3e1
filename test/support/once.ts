// What several tests of a file share, made when the first of them asks: a `before` of one file would run before the tests of every file
// of its suite, and its failure would be theirs.

/** @returns a function that calls `make` once and always answers its promise */
export function once<Made>(make: () => Promise<Made>): () => Promise<Made> {
  let made: Promise<Made> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
