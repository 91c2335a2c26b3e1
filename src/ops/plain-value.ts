// Makes any answer fit to be sent: plain JSON values of a bounded size. What is cut is said to be
// cut. Answers come from our own code, but they carry texts of the web and lists of a crawl of any
// size, so the bound holds whatever they are (I10).

/** A value as JSON knows it. */
export type Plain =
  | null
  | boolean
  | number
  | string
  | readonly Plain[]
  | { readonly [key: string]: Plain };

/** A bounded answer; `truncated` when something was left out. */
export interface BoundedPlain {
  readonly value: Plain;
  readonly truncated: boolean;
}

/** Deepest nesting; below it a value is given as text. */
const DEPTH_MAX = 12;
/** Longest text, characters. A URL is at most 2,000 or so. */
const TEXT_MAX = 16_384;

/**
 * The value as plain data whose JSON takes about `bytesMax` bytes at most: lists and objects end early, long texts are cut. Bigints become
 * decimal text, infinite numbers their names, Maps and Sets lists, bytes their count. Never throws for plain data.
 */
export function boundedPlain(value: unknown, bytesMax: number): BoundedPlain {
  const budget: Budget = { left: bytesMax, truncated: false };
  return { value: plain(value, 0, budget), truncated: budget.truncated };
}

interface Budget {
  left: number;
  truncated: boolean;
}

function plain(value: unknown, depth: number, budget: Budget): Plain {
  switch (typeof value) {
    case 'string':
      return plainText(value, budget);
    case 'number':
      budget.left -= 8;
      return Number.isFinite(value) ? value : String(value);
    case 'boolean':
      budget.left -= 5;
      return value;
    case 'bigint':
      return plainText(String(value), budget);
    case 'object':
      return value === null ? null : plainObject(value, depth, budget);
    default:
      return null;
  }
}

function plainText(text: string, budget: Budget): string {
  const room = Math.max(0, Math.min(TEXT_MAX, budget.left));
  // A character may take three bytes, or six when JSON escapes it; two is what texts of the web come to on average.
  budget.left -= Math.min(text.length, room) * 2 + 4;
  if (text.length <= room) return text;
  budget.truncated = true;
  return `${text.slice(0, room)}…`;
}

function plainObject(value: object, depth: number, budget: Budget): Plain {
  if (depth >= DEPTH_MAX) {
    budget.truncated = true;
    return '…';
  }
  if (value instanceof Error) return plainText(`${value.name}: ${value.message}`, budget);
  if (value instanceof Date) return plainText(String(value), budget);
  if (ArrayBuffer.isView(value)) return `${value.byteLength} bytes`;
  if (Array.isArray(value) || value instanceof Set || value instanceof Map) {
    return plainList(value, depth, budget);
  }
  const fields: Record<string, Plain> = {};
  for (const [key, field] of Object.entries(value)) {
    if (field === undefined || typeof field === 'function') continue;
    if (budget.left <= 0) {
      budget.truncated = true;
      break;
    }
    budget.left -= key.length + 4;
    fields[key.slice(0, 200)] = plain(field, depth + 1, budget);
  }
  return fields;
}

function plainList(values: Iterable<unknown>, depth: number, budget: Budget): Plain {
  const list: Plain[] = [];
  for (const value of values) {
    if (budget.left <= 0) {
      budget.truncated = true;
      break;
    }
    budget.left -= 1;
    list.push(plain(value, depth + 1, budget));
  }
  return list;
}
