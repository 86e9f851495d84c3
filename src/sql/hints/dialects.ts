/** How queries of other databases are written here. The one table of such hints, for every mistake of a query. */

interface Hint {
  /** The message of the mistake, or a part of it. */
  message: RegExp;
  /** What the query has, in lower case, with one space between tokens and without what texts and comments say. */
  query?: RegExp;
  hint: string;
}

/** What SQLite says, and we do, where a query is not written as it must be. */
const SYNTAX = /syntax error|unrecognized token|unexpected character|not understood|incomplete input/;
const noFunction = (...names: string[]): RegExp =>
  new RegExp(`^no such function: (?:${names.join('|')})$`, 'i');
const NO_QUERY = /^only queries are run/;

const TABLES =
  'the tables and columns are listed by "atlas-node sql .schema", by .schema at its prompt, and beside the editor of ' +
  'the panel';
const FIRST_ROWS = 'LIMIT n at the end gives the first n rows, LIMIT n OFFSET m those after the first m';
const TIMES =
  "times are text: datetime('now') is the time now, datetime(x, '-7 days') seven days before x, date(x) its day, " +
  "strftime('%Y-%m', x) its month, unixepoch(x) its seconds";
const CASTS =
  'a cast is written CAST(x AS REAL) or CAST(x AS TEXT), the day of a time date(x); amounts need none: ' +
  'units(amount, 18), sum_amount(amount), amount_real';
const PATTERNS =
  "x LIKE 'a%' takes small and capital letters as equal, x GLOB '[a-c]*' does not; there are no regular expressions";
const ARRAYS =
  "there are no arrays: x IN ('a', 'b') compares with a list, json_group_array(x) collects one, json_each(x) reads it";
const PARTS =
  'substr(x, from, length) is a part of a text, substr(x, -4) its end, instr(x, y) where y begins in it';
const EXACT = 'amounts are text: mul_div(a, b, c), plus(a, b), minus(a, b) and units(a, decimals) are exact';

/** The first that fits is told. */
export const DIALECTS: readonly Hint[] = [
  { message: NO_QUERY, query: /^(?:show|desc|describe|pragma|use|help|\.|\\)/, hint: TABLES },
  { message: /^the query has an unexpected character: "\\\\"/, query: /^\\/, hint: TABLES },
  { message: /information_schema|"?(?:pg_|sqlite_|duckdb_)\w+"/, hint: TABLES },
  {
    message: NO_QUERY,
    query: /^explain (?:analy[sz]e|\()/,
    hint: 'EXPLAIN QUERY PLAN SELECT ... tells how a query is run',
  },
  {
    message: NO_QUERY,
    query: /^set /,
    hint: 'there is nothing to set, and tables are named without a schema',
  },
  { message: NO_QUERY, query: /^(?:table|from) /, hint: 'SELECT * FROM name gives the rows of a table' },

  {
    message: SYNTAX,
    query: /\b(?:select|where|and|or|by) (?:[a-z]+ \. )?(?:from|to) (?:,|=|in\b)|, (?:to|from) from\b/,
    hint: 'the sender and the receiver of a transfer are from_address and to_address',
  },
  {
    message: /^no such column: (?:\w+\.)?(?:token|ticker|asset|contract|contract_address)$/i,
    query: /\b(?:named_)?(?:transfers|trades)\b/,
    hint:
      'token_address is the contract of a token; named_transfers and named_trades have its token_symbol, as in ' +
      "token_symbol = 'DEMO'",
  },
  { message: SYNTAX, query: /\bselect (?:distinct |all )?top (?:\d|\()/, hint: FIRST_ROWS },
  { message: SYNTAX, query: /\b(?:fetch (?:first|next)|offset|limit all|limit \d+ by)\b/, hint: FIRST_ROWS },
  { message: /^no such column: (?:rownum|rowid)\b/i, hint: FIRST_ROWS },
  {
    message: SYNTAX,
    query: /\bdistinct on \(/,
    hint:
      'GROUP BY x gives one row for each x; with max(id) among the results, the other columns are those of the ' +
      'newest row: SELECT token_address, max(id), to_address FROM transfers GROUP BY token_address',
  },
  {
    message: /"lateral"|not understood/,
    query: /\b(?:lateral|cross apply|outer apply)\b/,
    hint:
      'only a query among the results may use columns of the tables outside: SELECT k.symbol, (SELECT max(id) FROM ' +
      'transfers t WHERE t.token_address = k.token_address) FROM tokens k; otherwise JOIN a query with GROUP BY',
  },
  {
    message: SYNTAX,
    query: /\bqualify\b/,
    hint:
      'a window function is filtered outside: SELECT * FROM (SELECT *, row_number() OVER (...) AS n FROM ...) ' +
      'WHERE n = 1',
  },
  {
    message: SYNTAX,
    query: /\b(?:tablesample|using sample)\b/,
    hint: 'id % 100 = 0 takes one transfer in a hundred, and block_number > n a part of the chain',
  },
  {
    message: /syntax error|no such function/,
    query: /\bgroup by (?:all|rollup|cube|grouping sets)\b/,
    hint: 'GROUP BY names its columns, or their positions: GROUP BY 1, 2; join several groupings with UNION ALL',
  },
  {
    message: SYNTAX,
    query: /\* (?:exclude|except|replace) ?\(/,
    hint: 'name the columns; .schema lists them',
  },

  { message: /unrecognized token: ":"|not ::/, query: /::/, hint: CASTS },
  { message: SYNTAX, query: /\b(?:try_cast|safe_cast|try_convert) \(/, hint: CASTS },
  {
    message: noFunction(
      'to_number|convert|toint\\d+|touint\\d+|tostring|tofloat\\d+|todecimal\\d+|str|int',
      'float|numeric|decimal|bigint|text|varchar',
    ),
    hint: CASTS,
  },
  {
    message: /syntax error|no such column: (?:interval|date|timestamp|timestamptz)$/i,
    query: /\b(?:interval|date|timestamp|timestamptz) (?:''|\d)/,
    hint: TIMES,
  },
  { message: SYNTAX, query: /\bat time zone\b|\bextract \(/, hint: TIMES },
  {
    message: /^no such column: (?:year|quarter|month|week|day|hour|minute|second|sysdate|localtimestamp)$/i,
    hint: TIMES,
  },
  {
    message: noFunction(
      'date_?trunc|now|getdate|sysdate|curdate|curtime|today|localtimestamp',
      'utc_timestamp|transaction_timestamp|clock_timestamp|to_timestamp|to_date|todate',
      'todatetime|tostartof\\w+|from_unixtime|unix_timestamp|epoch|epoch_ms|make_date',
      'make_timestamp|date_?add|date_?sub|date_?diff|timestamp_?diff|timestamp_?trunc',
      'age|to_char|date_?format|format_?datetime|format_date|parse_date\\w*|str_to_date',
      'strptime|date_?part|extract|year|quarter|month|week|day|dayofweek|hour|minute',
      'second|last_day',
    ),
    hint: TIMES,
  },

  { message: SYNTAX, query: /\b(?:ilike|rlike|similar to)\b|!? ?~/, hint: PATTERNS },
  {
    message: /^no such function: (?:regexp\w*|rlike|contains|\w+s_?with)$|function MATCH/i,
    hint: PATTERNS,
  },
  { message: /syntax error|no such column: array$/i, query: /\b(?:array|any|all|unnest)\b/, hint: ARRAYS },
  { message: noFunction('any|all|some|array|array_\\w+|unnest|grouparray|has|hasany|explode'), hint: ARRAYS },
  {
    message: noFunction('jsonb?_\\w+|to_jsonb?|row_to_json'),
    hint: "json_group_array(x), json_object('a', x) and x ->> '$.a' make and read JSON",
  },
  {
    message: /^IN takes/,
    query: /\bposition \(/,
    hint: PARTS,
  },
  { message: SYNTAX, query: /\bsubstring \(/, hint: PARTS },
  {
    message: noFunction(
      'left|right|strpos|position|locate|charindex|mid|split_part|lpad|rpad',
      'substring_index|charlength|len',
    ),
    hint: `${PARTS}; format('%20s', x) pads with spaces`,
  },
  {
    message: noFunction('char_length|character_length|len'),
    hint: 'length(x) counts characters',
  },
  {
    message: noFunction('encode|decode|unhex|from_base64|to_base64|bytea|hextoint|to_hex_string'),
    hint: 'addresses and hashes are text with 0x here; hex(x) writes blobs, to_hex(n) and from_hex(x) numbers',
  },
  {
    message: noFunction('md5|sha1|sha2|sha256|sha512|keccak256|keccak|crc32'),
    hint: 'there are no hash functions',
  },
  {
    message: /syntax error|no such function/,
    query: /\b(?:group_concat|string_agg) \([^()]*\bseparator\b|\blistagg \(/,
    hint: "group_concat(x, ', ') joins texts, in order with group_concat(x, ', ' ORDER BY y)",
  },
  {
    message: /^DISTINCT aggregates must have exactly one argument/,
    hint: 'take the different values first: SELECT group_concat(x, y) FROM (SELECT DISTINCT x FROM ...)',
  },
  {
    message: /^wrong number of arguments to function count\(\)|^row value misused/,
    hint: "count(DISTINCT a || ' ' || b) counts pairs",
  },
  {
    message: noFunction('approx_\\w+|uniq\\w*|count_distinct|countdistinct|ndv'),
    hint: 'count(DISTINCT x) counts different values',
  },
  {
    message: /syntax error|no such function: (?:percentile_approx|quantile\w*|approx_percentile)$/i,
    query: /\bwithin group\b|\b(?:quantile\w*|percentile_approx|approx_percentile) \(/,
    hint: 'median(x) and percentile(x, 95) take numbers such as amount_real',
  },
  {
    message: /^input to (?:median|percentile\w*)\(\) is not numeric/i,
    hint: 'amounts are text: median(amount_real) and percentile(amount_real, 95) take the nearest numbers',
  },
  {
    message: noFunction('std|stddev\\w*|var|variance|var_\\w+|corr|covar_\\w+'),
    hint: 'sqrt(avg(x * x) - avg(x) * avg(x)) is the standard deviation of numbers such as amount_real',
  },
  {
    message: noFunction(
      'bool_and|bool_or|every|any_value|first|last|arbitrary|argmax|argmin|max_by',
      'min_by|arg_max|arg_min|countif|count_if|sumif|sum_if',
    ),
    hint:
      'max(x) and min(x) of conditions stand for "any" and "every"; count(*) FILTER (WHERE x) counts some rows, and ' +
      'beside max(x) a plain column is that of its row',
  },
  {
    message:
      /^no such function: (?:isnull|nvl2?|ifnotnull|zeroifnull|nullifzero|iff|decode|choose)$|near "isnull"/i,
    hint: 'coalesce(a, b), iif(condition, a, b) and CASE WHEN ... THEN ... ELSE ... END choose',
  },
  { message: noFunction('div|intdiv|idiv'), hint: `a / b of whole numbers is cut; ${EXACT}` },
  { message: SYNTAX, query: /\/ \/|\/\//, hint: `a / b of whole numbers is cut; ${EXACT}` },
  { message: /unexpected character: "\^"/, hint: 'pow(a, b) is a power' },
  {
    message: /^integer overflow$/,
    hint: 'sum_amount(x) adds amounts exactly, and sum() of a column like amount_real nearly',
  },
  { message: /^(?:least|greatest)\(\) takes/, hint: 'min(a, b) and max(a, b) take floating-point numbers' },
  {
    message: /^Missing named parameter/,
    hint: 'write the value itself: only the [queries] of a configuration have parameters',
  },
  { message: /^hex literal too big/, hint: "addresses and hashes are texts, in single quotes: '0x...'" },
  { message: noFunction('rand|newid|uuid|gen_random_uuid'), hint: 'random() is a whole number' },

  {
    message: /^there is no table "(?:generate_series|range|numbers|sequence)"/,
    hint: 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10) SELECT i FROM n counts',
  },
  {
    message: /^there is no table "(?:dual|unnest)"/,
    hint: "SELECT needs no FROM, and json_each('[1, 2]') reads a list",
  },
  {
    message: /^there is no table "(?:transactions?|txs?|logs?|events?|receipts?|calls|traces)"/,
    hint: 'the index has transfers, each with its tx_hash, and blocks: no transactions or logs of other kinds',
  },
  {
    message: /^there is no table "readable_/,
    hint: 'named_transfers and named_trades have addresses as 0x text here',
  },
];
