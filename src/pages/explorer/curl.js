/** A request as a line of shell. Pure functions. */

/**
 * @param {{ method: 'GET' | 'POST', url: string, body: string | null }} request
 * @param {string} key
 */
export function curlLine({ method, url, body }, key) {
  const parts = ['curl', '-s', '-H', quoted(`X-API-Key: ${key}`)];
  if (method === 'POST') parts.push('-H', quoted('Content-Type: application/json'), '-d', quoted(body ?? ''));
  return [...parts, quoted(url)].join(' ');
}

/** @param {string} text */
function quoted(text) {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
