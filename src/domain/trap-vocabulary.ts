// The words by which traps.ts knows calendars, sort orders and facets (step 5, DESIGN.md §1 and §4). They are the parameter and path names
// that common software writes: Apache mod_autoindex, WordPress and The Events Calendar, Joomla JEvents, Drupal, Magento, WooCommerce,
// OpenCart, osCommerce, OJS. Words alone never make a trap certain; they make a URL a suspect, which gets a small allowance.
// Invariant: all words are lower case and compared whole.

/** Path segments and parameter names of views that page through time for ever. */
export const CALENDAR_WORDS: ReadonlySet<string> = new Set([
  'calendar',
  'calendars',
  'cal',
  'kalender',
  'calendrier',
  'calendario',
  'month',
  'week',
  'day',
  'agenda',
  'schedule',
  'month.calendar',
  'week.listevents',
  'day.listevents',
  'year.listevents',
]);

/** Parameters whose value is a date or a part of one. */
export const DATE_NAME =
  /^(?:.*(?:date|year|month|day|calendar).*|from|to|start|end|since|until|cal|tribe-bar-date|ical|yr|mon|mo|jahr|monat)$/;

/** Parameters that reorder or restyle a list without changing what is in it, whatever their value. */
export const SORT_NAMES: ReadonlySet<string> = new Set([
  'sort',
  'sort_by',
  'sort-by',
  'sortby',
  'sort_order',
  'sortorder',
  'sortdir',
  'sort_dir',
  'orderby',
  'order_by',
  'order-by',
  'orderdir',
  'orderway',
  'product_list_order',
  'product_list_dir',
  'product_list_mode',
  'product_list_limit',
  'per_page',
  'perpage',
  'per-page',
  'pagesize',
  'page_size',
  'items_per_page',
  'viewmode',
  'view_mode',
  'display_mode',
]);

/** Parameters that do so only with such values: `order=123` is an order, `view=article` a page. */
export const SORT_VALUES: ReadonlyMap<string, RegExp> = new Map([
  [
    'order',
    /^(?:asc|desc|name|price|date|title|rating|popularity|newest|position|[a-z_.]+[.:_-](?:asc|desc))$/,
  ],
  ['dir', /^(?:asc|desc|up|down|[ad])$/],
  ['direction', /^(?:asc|desc)$/],
  ['view', /^(?:grid|list|table|gallery|tiles?|compact|thumbs?|thumbnails?|icons?|cards?)$/],
  ['mode', /^(?:grid|list|table|gallery)$/],
  ['display', /^(?:grid|list|table|gallery|\d+)$/],
  ['layout', /^(?:grid|list|table|gallery)$/],
  ['style', /^(?:grid|list|table|gallery)$/],
  ['limit', /^(?:\d+|all)$/],
  ['show', /^(?:\d+|all)$/],
]);

/** Parameters that narrow a list: each may be combined with all others. */
export const FACET_NAMES: ReadonlySet<string> = new Set([
  ...[
    'price',
    'prices',
    'price_min',
    'price_max',
    'min_price',
    'max_price',
    'minprice',
    'maxprice',
  ],
  ...['pricefrom', 'priceto', 'price_from', 'price_to', 'pricerange', 'price_range', 'price-range'],
  ...['color', 'colour', 'colors', 'colours', 'size', 'sizes', 'brand', 'brands', 'manufacturer'],
  ...['taste', 'flavor', 'flavour', 'material', 'gender', 'style', 'rating', 'ratings', 'stars'],
  ...['availability', 'in_stock', 'instock', 'stock', 'condition', 'discount', 'sale', 'feature'],
  ...['features', 'filter', 'filters', 'facet', 'facets', 'attribute', 'attributes', 'vendor'],
  ...['fit', 'pattern', 'shape', 'weight', 'width', 'height', 'length', 'season', 'occasion'],
  ...['age', 'model', 'fabric', 'finish', 'radius', 'latitude', 'longitude', 'lat', 'lng', 'lon'],
]);

/** Segments before a set of combined tags. */
export const TAXONOMY_WORDS: ReadonlySet<string> = new Set([
  ...['tag', 'tags', 'tagged', 'label', 'labels', 'topic', 'topics', 'keyword', 'keywords'],
  ...['category', 'categories', 'filter', 'filters', 'facet', 'facets', 'genre', 'genres'],
]);

/** Parameters that count pages of a list. */
export const PAGE_NAMES: ReadonlySet<string> = new Set(['page', 'paged', 'pg', 'p', 'pagenum']);
/** Parameters that count entries of a list. */
export const OFFSET_NAMES: ReadonlySet<string> = new Set(['offset', 'start', 'skip', 'from']);
