/** A browser on a page of `page`: it sends `Origin` with requests that change something, keeps cookies by origin, and follows redirects. */
export class Browser {
  readonly #page: string
  readonly #cookies = new Map<string, Map<string, string>>()

  constructor(page: string) {
    this.#page = page
  }

  /**
   * Sends a JSON body.
   *
   * @param until the browser does not follow a redirect to such an address, and returns the address
   */
  async send(method: string, url: string, body?: unknown, until = noAddress): Promise<BrowserResponse> {
    const headers: Record<string, string> = method === 'GET' ? { accept: 'text/html' } : { origin: this.#page }
    if (body !== undefined) headers['content-type'] = 'application/json'
    return this.#follow(
      method,
      new URL(url, this.#page),
      headers,
      body === undefined ? undefined : JSON.stringify(body),
      until,
    )
  }

  /** The cookies of the page's origin, by name. */
  get cookies(): Map<string, string> {
    return this.#cookiesOf(new URL(this.#page))
  }

  /** The same cookies on a page of another site. */
  at(page: string): Browser {
    const other = new Browser(page)
    for (const [origin, cookies] of this.#cookies) other.#cookies.set(origin, cookies)
    return other
  }

  async #follow(
    method: string,
    url: URL,
    headers: Record<string, string>,
    body: string | undefined,
    until: Until,
  ): Promise<BrowserResponse> {
    const cookie = [...this.#cookiesOf(url)].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetch(url, { method, body, redirect: 'manual', headers: { ...headers, cookie } })
    for (const set of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? []
      if (value === '' || /max-age=0\b/i.test(set)) this.#cookiesOf(url).delete(name)
      else this.#cookiesOf(url).set(name, value)
    }
    const text = await response.text()
    // a 200 may have a Location too: better-auth names the login page of a provider in it
    const location = response.status >= 300 && response.status < 400 ? response.headers.get('location') : null
    const { status } = response
    if (!location) return { status, url: url.href, text }
    const next = new URL(location, url)
    return until(next)
      ? { status, url: next.href, text }
      : this.#follow('GET', next, { accept: 'text/html' }, undefined, until)
  }

  #cookiesOf({ origin }: URL): Map<string, string> {
    const cookies = this.#cookies.get(origin) ?? new Map<string, string>()
    this.#cookies.set(origin, cookies)
    return cookies
  }
}

type Until = (url: URL) => boolean
const noAddress: Until = () => false

export interface BrowserResponse {
  readonly status: number
  /** The address after the last redirect. */
  readonly url: string
  readonly text: string
}
