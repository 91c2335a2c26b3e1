// Assertions: how our own bugs announce themselves (STYLE.md, errors of the third kind). They stay on in production. A failed
// assertion fails the actor it happened in; its supervisor decides what follows. Input from the web or an operator is never asserted.

/** A bug of ours: a condition the code relies on did not hold. */
export class AssertionFailure extends Error {
  override readonly name = 'AssertionFailure';
}

/**
 * Throws when a condition our code relies on does not hold.
 * @param condition what must be true
 * @param text builds the message; called only on failure, so it may be costly
 * @throws AssertionFailure
 */
export function assert(condition: boolean, text: () => string): asserts condition {
  if (!condition) throw new AssertionFailure(text());
}

/**
 * Ends a switch over a union: the compiler proves it is never reached, and this catches what arrives untyped all the same.
 * @throws AssertionFailure always
 */
export function unreachable(value: never): never {
  throw new AssertionFailure(`unreachable: ${JSON.stringify(value)}`);
}
