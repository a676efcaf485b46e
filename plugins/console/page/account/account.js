import { useState } from 'preact/hooks'
import { ApiError, shownError } from '../api/api-error.js'
import { paths } from '../api/paths.js'
import { CopyButton } from '../controls/copy-button.js'
import { Field, Select } from '../controls/field.js'
import { html } from '../controls/html.js'
import { Failure, Loading } from '../controls/placeholder.js'
import { showToast } from '../controls/toast.js'
import { useAction, useApi, useLoaded } from '../frame/hooks.js'
import { LimitUses, readLimits } from '../usage/limits.js'
import { preferences, setPreferences, showTheme } from '../words/preferences.js'
import { Sessions } from './sessions.js'
import { t } from './words.js'

/** @typedef {{ id: string, name: string, role: 'user' | 'admin', team: string | null, login: 'password' | 'oidc' | 'none' }} Account */

/** The user's own account: who they are, how the console looks, their password and their sessions. */
export const AccountScreen = () => {
  const api = useApi()
  const loaded = useLoaded(async (signal) => {
    if (paths.account === undefined) return undefined
    // Both at once, so that what is below them does not move.
    const [{ account }, limits] = await Promise.all([
      api.request(paths.account, { signal }),
      readLimits(api, signal).catch(shownError),
    ])
    return { account: /** @type {Account} */ (account), limits }
  }, [])
  const { account, limits } = loaded.value ?? {}
  return html`
    <div class="heading"><h1 tabindex="-1">${t.account.title}</h1></div>
    <${Failure} message=${loaded.error} retry=${loaded.reload} />
    ${!account && loaded.busy && html`<${Loading} kind="rows" />`}
    ${
      account &&
      html`
        <dl class="profile">
          <div><dt>${t.account.name}</dt><dd>${account.name}</dd></div>
          <div><dt>${t.account.role}</dt><dd>${t.account.roles[account.role]}</dd></div>
          ${account.team !== null && html`<div><dt>${t.account.team}</dt><dd>${account.team}</dd></div>`}
          <div><dt>${t.account.login}</dt><dd>${t.account.logins[account.login]}</dd></div>
          ${paths.shares !== undefined && html`<div class="own-id"><dt>${t.account.id}</dt><dd class="copied"><code>${account.id}</code><${CopyButton} text=${account.id} label=${t.copy} title=${t.account.copyId} /></dd><dd class="hint">${t.account.idHint}</dd></div>`}
        </dl>
      `
    }
    ${limits && html`<${LimitSection} limits=${limits} reload=${loaded.reload} />`}
    ${(account || !loaded.busy) && html`<${Display} />`}
    ${account?.login === 'password' && html`<${Password} />`}
    ${account && html`<${Sessions} path=${`${paths.account}/sessions`} />`}
  `
}

/**
 * What is left of each limit, and when it returns.
 * @param {{ limits: readonly import('../usage/limits.js').Limit[] | ApiError, reload: () => void }} props
 */
const LimitSection = ({ limits, reload }) => html`
  <section>
    <h2>${t.account.limits}</h2>
    ${
      limits instanceof ApiError
        ? html`<${Failure} message=${limits} retry=${reload} />`
        : limits.length > 0
          ? html`<${LimitUses} label=${t.account.limits} limits=${limits} />`
          : html`<p class="lead">${t.account.noLimits}</p>`
    }
  </section>
`

/** The language and the colours. */
const Display = () => {
  const [theme, setTheme] = useState(preferences.theme)
  const change = (/** @type {Event} */ event) => {
    const { name, value } = /** @type {HTMLSelectElement} */ (event.currentTarget)
    Object.assign(preferences, { [name]: value || undefined })
    setPreferences(preferences)
    // All words are chosen when the page starts.
    if (name === 'language') location.reload()
    showTheme(preferences.theme)
    setTheme(preferences.theme)
  }
  return html`
    <section>
      <h2>${t.account.display}</h2>
      <div class="selects">
        <${Select}
          label=${t.account.language}
          name="language"
          value=${preferences.language ?? ''}
          choices=${[['', t.account.ofBrowser], ['en', 'English'], ['zh', '中文']]}
          onChange=${change}
        />
        <${Select}
          label=${t.account.theme}
          name="theme"
          value=${theme ?? ''}
          choices=${[['', t.account.ofSystem], ['light', t.account.themes.light], ['dark', t.account.themes.dark]]}
          onChange=${change}
        />
      </div>
    </section>
  `
}

const Password = () => {
  const api = useApi()
  const { run, busy, error } = useAction(async (/** @type {HTMLFormElement} */ form) => {
    const fields = new FormData(form)
    if (fields.get('password') !== fields.get('repeated')) throw new ApiError(400, t.account.notRepeated)
    const body = { current_password: fields.get('current'), password: fields.get('password') }
    try {
      await api.request(paths.account ?? '', { method: 'PATCH', body })
    } catch (caught) {
      if (caught instanceof ApiError && caught.status === 403) throw new ApiError(403, t.account.wrongPassword)
      throw caught instanceof ApiError && caught.status === 400 ? new ApiError(400, t.invitation.weak) : caught
    }
    form.reset()
    showToast(t.account.passwordChanged)
  })
  const submit = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault()
    void run(/** @type {HTMLFormElement} */ (event.currentTarget))
  }
  return html`
    <section>
      <h2>${t.account.password}</h2>
      <p class="lead">${t.account.passwordLead}</p>
      <form class="narrow" onSubmit=${submit} aria-busy=${busy}>
        <${Field} label=${t.account.currentPassword} name="current" type="password" autocomplete="current-password" required />
        <${Field} label=${t.invitation.password} hint=${t.invitation.rules} name="password" type="password" autocomplete="new-password" required />
        <${Field} label=${t.account.repeated} name="repeated" type="password" autocomplete="new-password" required />
        <${Failure} message=${error} />
        <button type="submit" class="primary" aria-disabled=${busy}>${busy ? t.working : t.account.changePassword}</button>
      </form>
    </section>
  `
}
