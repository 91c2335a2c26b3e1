// Splits a line that an operator typed into words, as a shell would but simpler: blanks separate,
// single or double quotes hold together, there is no escape. Used by the socket's text form and by
// the prompt of `inspect`. Linear, never throws; an open quote is an outcome.

/** The words, or undefined when a quote is not closed. Linear in the line. */
export function splitWords(line: string): string[] | undefined {
  const words: string[] = [];
  let word = '';
  let isInWord = false;
  let quote = '';
  for (const character of line) {
    if (quote !== '') {
      if (character === quote) quote = '';
      else word += character;
    } else if (character === '"' || character === "'") {
      quote = character;
      isInWord = true;
    } else if (/\s/.test(character)) {
      if (isInWord) words.push(word);
      word = '';
      isInWord = false;
    } else {
      word += character;
      isInWord = true;
    }
  }
  if (quote !== '') return undefined;
  if (isInWord) words.push(word);
  return words;
}
