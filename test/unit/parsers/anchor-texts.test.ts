import { deepStrictEqual, strictEqual } from 'node:assert';
import { test } from 'node:test';
import { ANCHOR_TEXT_CHARACTERS_MAX, anchorTexts } from '../../../src/parsers/anchor-texts.ts';
import { run } from '../../../src/parsers/anchored-entry.ts';

const page = (body: string | Uint8Array, contentType = 'text/html; charset=utf-8') => ({
  url: 'http://a.test/dir/',
  contentType,
  body: typeof body === 'string' ? Buffer.from(body) : body,
  userAgent: 'hostler',
});

test('anchorTexts gives the first words of each target, blanks collapsed, images by their alt', async () => {
  const { anchors } = await run(
    page(
      '<base href="/b/"><a href="x#top">  Two\n <b>words</b> </a><a href="x">later</a>' +
        '<a href="y"><img src=i alt="a picture"></a><a href="z"> </a><a>no link</a>' +
        '<a href="mailto:m@a.test">mail</a><template><a href="t">hidden</a></template>' +
        `<a href="long">${'é'.repeat(2_000)}</a>`,
    ),
  );
  deepStrictEqual(Object.fromEntries(anchors), {
    'http://a.test/b/x': 'Two words',
    'http://a.test/b/y': 'a picture',
    'http://a.test/b/long': 'é'.repeat(ANCHOR_TEXT_CHARACTERS_MAX),
  });
});

test('anchorTexts reads the page in its own encoding, and has nothing for what is no text', async () => {
  const latin = Buffer.from('<a href="k">caf\u00e9</a>', 'latin1');
  const { anchors } = await run(page(latin, 'text/html; charset=iso-8859-1'));
  deepStrictEqual([...anchors.values()], ['café']);
  const none = anchorTexts(page(latin, 'image/png'), { base: 'http://a.test/' });
  strictEqual(none.size, 0);
});

test('anchorTexts costs one visit a node, however deep links and text lie', () => {
  const deep = `${'<div>'.repeat(5_000)}<a href="x">here</a>`;
  const texts = anchorTexts(page(deep), { base: 'http://a.test/', charset: 'UTF-8' });
  deepStrictEqual([...texts], [['http://a.test/x', 'here']]);
});
