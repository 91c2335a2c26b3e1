// Looking fields up in the flat header list of a FetchResponse (name, value, name, value …). Steps 8 to 11 of a URL's life read a few
// fields of each answer; a list is scanned, since an answer has about ten fields and building a map costs more than three look-ups.
// Names are compared without case (RFC 9110 §5.1). Values are left as they came.

/**
 * All values of a field, in order.
 * @param headers flat list name, value, name, value …
 * @param name the field's name in lower case
 * @returns the values; empty when the field is absent
 */
export function headerValues(headers: readonly string[], name: string): string[] {
  const values: string[] = [];
  for (let index = 0; index + 1 < headers.length; index += 2) {
    const candidate = headers[index] as string;
    // Lengths differ for nearly every field: the cheap test comes first.
    if (candidate.length === name.length && candidate.toLowerCase() === name) {
      values.push(headers[index + 1] as string);
    }
  }
  return values;
}

/**
 * The first value of a field.
 * @param name the field's name in lower case
 * @returns undefined when the field is absent
 */
export function headerValue(headers: readonly string[], name: string): string | undefined {
  for (let index = 0; index + 1 < headers.length; index += 2) {
    const candidate = headers[index] as string;
    if (candidate.length === name.length && candidate.toLowerCase() === name) {
      return headers[index + 1] as string;
    }
  }
  return undefined;
}
