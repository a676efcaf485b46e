/** A login outside the console: a page of the host app, or an OpenID provider. */
export interface ConsoleLogin {
  /**
   * Where users log in: a path such as `/login`, or an http(s) URL. That page leads back to the console by itself. What
   * stands before `prefix` in an app with a prefix of its own also stands before a path.
   */
  readonly address: string
  /** Text of the link, up to 64 characters. Default: `Log in`, in the language of the user. */
  readonly label?: string
  /** Whether the page also shows its form for a name and a password. Default: false. */
  readonly form?: boolean
  /**
   * Whether the address accepts an invitation in the query (`?invitation=SECRET`), as that of `oidcLogin` does. Then
   * the screen of an invitation links to it. Default: false.
   */
  readonly invitation?: boolean
}

const maxLabelCharacters = 64

/** The login of the options. Throws TypeError for an address that is neither a path nor an http(s) URL. */
export const readLogin = (login: string | ConsoleLogin | undefined): ConsoleLogin | undefined => {
  if (login === undefined) return undefined
  const { address, label, form = false, invitation = false } = typeof login === 'string' ? { address: login } : login
  if (typeof address !== 'string' || !isAddress(address)) {
    throw new TypeError('login must be a path such as /login, or an http(s) URL')
  }
  if (label !== undefined && (label.trim() === '' || label.length > maxLabelCharacters)) {
    throw new TypeError(`the label of login must have 1 to ${maxLabelCharacters} characters`)
  }
  return { address, label, form, ...(invitation && { invitation }) }
}

/** No script, no credentials, and no `//host` or `/\host`, which look like paths. */
const isAddress = (address: string): boolean => {
  if (/^\/(?![/\\])[!-~]*$/.test(address)) return new URL(address, 'http://localhost').host === 'localhost'
  if (!URL.canParse(address)) return false
  const { protocol, username, password } = new URL(address)
  return /^https?:$/.test(protocol) && username === '' && password === ''
}
