// The kinds of values an option can have: each reads a value from the config file, or the text of a flag, and says in plain words what it
// expects. No step of a URL's life: configuration, checked before anything starts. Invariant: never throws, whatever it is given, since
// the config file is code and may hand over anything.

/** A value that fits, or what was expected in its place (continues the words "must be"). */
export type Reading<Value> = { readonly value: Value } | { readonly expected: string };

/** One kind of value. */
export interface ValueKind<Value> {
  /** Continues "must be": `an integer from 0 to 10`. */
  readonly expected: string;
  /** Stands for the value in a list of flags: `N`, `FILE`; empty for a flag that takes none. */
  readonly placeholder: string;
  /** True when a flag may be repeated, each adding to a list. */
  readonly isList: boolean;
  /** Reads a value of the config file. */
  read(value: unknown): Reading<Value>;
  /** Reads what followed a flag; all that did, for a list. */
  readText(texts: readonly string[]): Reading<Value>;
}

/** Inclusive bounds. */
export interface Bounds {
  readonly min: number;
  readonly max: number;
}

const DECIMAL = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i;

/** A whole number. As text also with `_` between digits. */
export function integer(bounds: Bounds, placeholder = 'N'): ValueKind<number> {
  return numberKind(bounds, {
    expected: `an integer ${range(bounds)}`,
    placeholder,
    fits: Number.isSafeInteger,
  });
}

/** A finite number. */
export function decimal(bounds: Bounds, placeholder = 'N'): ValueKind<number> {
  return numberKind(bounds, {
    expected: `a number ${range(bounds)}`,
    placeholder,
    fits: Number.isFinite,
  });
}

function numberKind(
  { min, max }: Bounds,
  {
    expected,
    placeholder,
    fits,
  }: {
    readonly expected: string;
    readonly placeholder: string;
    readonly fits: (value: number) => boolean;
  },
): ValueKind<number> {
  const read = (value: unknown): Reading<number> =>
    typeof value === 'number' && fits(value) && value >= min && value <= max
      ? { value }
      : { expected };
  return {
    expected,
    placeholder,
    isList: false,
    read,
    readText(texts) {
      const text = lastOf(texts)
        .trim()
        .replaceAll(/(?<=\d)_(?=\d)/g, '');
      return DECIMAL.test(text) ? read(Number(text)) : { expected };
    },
  };
}

function range({ min, max }: Bounds): string {
  if (max >= Number.MAX_SAFE_INTEGER) return `of at least ${min}`;
  return `from ${min} to ${max}`;
}

/** True or false; as a flag it takes no value and means true. */
export const BOOLEAN: ValueKind<boolean> = {
  expected: 'true or false',
  placeholder: '',
  isList: false,
  read: (value) => (typeof value === 'boolean' ? { value } : { expected: 'true or false' }),
  readText: () => ({ value: true }),
};

/** One of a few words. `placeholder` is for those whose list would be too wide. */
export function choice<const Word extends string>(
  words: readonly Word[],
  placeholder = words.join('|'),
): ValueKind<Word> {
  const expected = `one of ${words.join(', ')}`;
  const read = (value: unknown): Reading<Word> => {
    const word = words.find((each) => each === value);
    return word === undefined ? { expected } : { value: word };
  };
  return {
    expected,
    placeholder,
    isList: false,
    read,
    readText: (texts) => read(lastOf(texts)),
  };
}

/**
 * Text that passes a check.
 * @param options.parse gives the text as it is kept, or undefined when it does not fit
 */
export function text(options: {
  readonly expected: string;
  readonly placeholder: string;
  readonly parse: (value: string) => string | undefined;
}): ValueKind<string> {
  const { expected, placeholder, parse } = options;
  const read = (value: unknown): Reading<string> => {
    const kept = typeof value === 'string' ? parse(value) : undefined;
    return kept === undefined ? { expected } : { value: kept };
  };
  return { expected, placeholder, isList: false, read, readText: (texts) => read(lastOf(texts)) };
}

/**
 * A list of values of one kind.
 * @param options.countMax most elements; `countMin` fewest, 0 by default
 */
export function list<Value>(
  element: ValueKind<Value>,
  options: { readonly countMax: number; readonly countMin?: number },
): ValueKind<readonly Value[]> {
  const { countMax, countMin = 0 } = options;
  const count =
    countMin === countMax
      ? `${countMax}`
      : countMin === 0
        ? `at most ${countMax}`
        : `${countMin} to ${countMax}`;
  const expected = `a list of ${count} elements, each ${element.expected}`;
  const readAll = <Item>(
    items: readonly Item[],
    read: (item: Item) => Reading<Value>,
  ): Reading<readonly Value[]> => {
    if (items.length > countMax || items.length < countMin) return { expected };
    const values: Value[] = [];
    for (const item of items) {
      const reading = read(item);
      if ('expected' in reading)
        return items.length === 1 && countMin === 0 ? reading : { expected };
      values.push(reading.value);
    }
    return { value: values };
  };
  return {
    expected,
    placeholder: element.placeholder,
    isList: true,
    read: (value) =>
      Array.isArray(value) ? readAll<unknown>(value, (item) => element.read(item)) : { expected },
    readText: (texts) => readAll(texts, (item) => element.readText([item])),
  };
}

/** The last of several texts counts, as everywhere on a command line. */
function lastOf(texts: readonly string[]): string {
  return texts.at(-1) ?? '';
}
