import type { ServerResponse } from 'node:http'

export const json = (response: ServerResponse, status: number, content: string) => {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(content)
}

/** What a provider may do instead of an answer. */
export const outages: Readonly<
  Record<string, readonly [(response: ServerResponse) => void, cause: RegExp, page: RegExp]>
> = {
  'never answers': [() => {}, /did not answer in time/, /does not answer/],
  'never ends its answer': [
    (response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.write('{')
    },
    /did not answer in time/,
    /does not answer/,
  ],
  'closes the connection': [(response) => response.destroy(), /could not be reached/, /does not answer/],
  'answers with 300,000 bytes': [
    (response) => json(response, 200, JSON.stringify({ a: 'x'.repeat(300_000) })),
    /more than 262144 bytes/,
    /does not answer/,
  ],
  'answers without an end': [
    (response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      const more = () => {
        while (response.write('x'.repeat(65_536)));
      }
      response.on('drain', more)
      more()
    },
    /more than 262144 bytes/,
    /does not answer/,
  ],
  'is overloaded': [(response) => json(response, 503, '{}'), /responded with status 503/, /does not answer/],
  'redirects to another address': [
    (response) => {
      response.writeHead(302, { location: 'https://other.invalid/' })
      response.end()
    },
    /status/,
    /could not be verified/,
  ],
  'answers with a page': [
    (response) => {
      response.writeHead(200, { 'content-type': 'text/html' })
      response.end('<html>')
    },
    /content-type/,
    /could not be verified/,
  ],
  'answers with a list': [(response) => json(response, 200, '[]'), /invalid response|parse/, /could not be verified/],
  'answers with what is not JSON': [(response) => json(response, 200, '{'), /pars/, /could not be verified/],
  'answers with deep JSON': [
    (response) => json(response, 200, '['.repeat(100_000)),
    /invalid response|pars|went wrong|call stack/,
    /could not be verified/,
  ],
}
