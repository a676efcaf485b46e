import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { ApiError } from '../api/api-error.js'
import { serverNow, useServerTime } from '../api/clock.js'
import { elsewhere } from '../api/paths.js'
import { Field } from '../controls/field.js'
import { html } from '../controls/html.js'
import { Logo } from '../controls/icons.js'
import { Failure } from '../controls/placeholder.js'
import { useAction } from '../frame/hooks.js'
import { t } from '../words/words.js'

/** @typedef {(name: string, password: string) => Promise<void>} LogIn */

/**
 * The login screen.
 * @param {{ notice: string | undefined, login: LogIn }} props
 */
export const Login = ({ notice, login }) => html`
  <main class="login" id="main">
    <div class="brand"><${Logo} /><span>sluice</span></div>
    <h1 tabindex="-1">${t.login.title}</h1>
    <p class="lead">${t.login.lead}</p>
    ${notice && html`<p class="notice" role="status">${notice}</p>`}
    ${(!elsewhere || elsewhere.form) && html`<${Form} login=${login} />`}
    ${
      elsewhere
        ? html`<a class=${`button wide${elsewhere.form ? '' : ' primary'}`} href=${elsewhere.address}>${elsewhere.label ?? t.login.submit}</a>`
        : html`<p class="hint">${t.login.hint}</p>`
    }
  </main>
`

/** @param {{ login: LogIn }} props */
const Form = ({ login }) => {
  const [waitUntil, setWaitUntil] = useState(0)
  const now = useServerTime(waitUntil > 0)
  const wait = Math.max(0, Math.ceil((waitUntil - now) / 1000))
  const form = useRef(/** @type {HTMLFormElement | null} */ (null))
  const { run, busy, error } = useAction(async () => {
    const fields = new FormData(/** @type {HTMLFormElement} */ (form.current))
    try {
      await login(String(fields.get('name')), String(fields.get('password')))
    } catch (caught) {
      if (!(caught instanceof ApiError)) throw caught
      if (caught.status === 429) setWaitUntil(serverNow() + 1000 * (caught.retryAfter ?? 30))
      if (caught.status === 401) throw new ApiError(401, t.login.wrong)
      throw caught
    }
  })
  useEffect(() => {
    if (waitUntil > 0 && wait === 0) setWaitUntil(0)
  }, [wait])
  useLayoutEffect(() => form.current?.querySelector('input')?.focus(), [])

  const submit = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault()
    if (wait === 0) void run()
  }
  return html`
    <form ref=${form} onSubmit=${submit} aria-busy=${busy}>
      <${Field} label=${t.login.name} name="name" autocomplete="username" autocapitalize="none" spellcheck=${false} required />
      <${Field} label=${t.login.password} name="password" type="password" autocomplete="current-password" required />
      <${Failure} message=${wait > 0 ? t.login.tooManyAttempts : error} />
      <button type="submit" class="primary wide" aria-disabled=${busy || wait > 0}>
        ${wait > 0 ? t.login.wait(wait) : busy ? t.working : t.login.submit}
      </button>
    </form>
  `
}
