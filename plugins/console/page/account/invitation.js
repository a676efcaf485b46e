import { useRef } from 'preact/hooks'
import { send } from '../api/api.js'
import { ApiError } from '../api/api-error.js'
import { elsewhere, paths } from '../api/paths.js'
import { Field } from '../controls/field.js'
import { html } from '../controls/html.js'
import { Logo } from '../controls/icons.js'
import { Failure, Loading } from '../controls/placeholder.js'
import { useAction, useLoaded } from '../frame/hooks.js'
import { linkTo, navigate } from '../frame/route.js'
import { t } from '../words/words.js'

/** @param {string} secret */
const pathOf = (secret) => `${paths.invitations}/${encodeURIComponent(secret)}`

/**
 * The screen of an invitation: its holder sets a password, or logs in where users log in.
 * @param {{ secret: string, login: import('./login.js').LogIn }} props
 */
export const Invitation = ({ secret, login }) => {
  const { value, error, reload } = useLoaded(
    async (signal) => {
      try {
        return (await (await send(pathOf(secret), { signal })).json()).invitation
      } catch (caught) {
        if (caught instanceof ApiError && caught.status === 404) return { name: undefined }
        throw caught
      }
    },
    [secret],
  )
  return html`
    <main class="login" id="main">
      <div class="brand"><${Logo} /><span>sluice</span></div>
      <h1 tabindex="-1">${value?.name === undefined ? t.invitation.title : t.invitation.welcome(value.name)}</h1>
      ${!value && !error && html`<${Loading} kind="rows" count=${1} />`}
      <${Failure} message=${error} retry=${reload} />
      ${value && (value.name === undefined ? html`<${Ended} />` : html`<${Choice} secret=${secret} name=${value.name} login=${login} />`)}
    </main>
  `
}

const Ended = () => html`
  <p class="lead">${t.invitation.ended}</p>
  <a class="button wide" href=${linkTo('groups')}>${t.login.submit}</a>
`

/** @param {{ secret: string, name: string, login: import('./login.js').LogIn }} props */
const Choice = ({ secret, name, login }) => {
  const hasForm = !elsewhere || elsewhere.form
  return html`
    <p class="lead">${hasForm ? t.invitation.setPassword : t.invitation.logInElsewhere}</p>
    ${hasForm && html`<${Form} secret=${secret} name=${name} login=${login} />`}
    ${
      elsewhere?.invitation &&
      html`
        <a
          class=${`button wide${hasForm ? '' : ' primary'}`}
          href=${`${elsewhere.address}?invitation=${encodeURIComponent(secret)}`}
        >${elsewhere.label ?? t.login.submit}</a>
      `
    }
  `
}

/** @param {{ secret: string, name: string, login: import('./login.js').LogIn }} props */
const Form = ({ secret, name, login }) => {
  const form = useRef(/** @type {HTMLFormElement | null} */ (null))
  const { run, busy, error } = useAction(async () => {
    const password = String(new FormData(/** @type {HTMLFormElement} */ (form.current)).get('password'))
    try {
      await send(pathOf(secret), { method: 'POST', body: { password } })
    } catch (caught) {
      throw caught instanceof ApiError && caught.status === 400 ? new ApiError(400, t.invitation.weak) : caught
    }
    await login(name, password)
    navigate('groups')
  })
  const submit = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault()
    void run()
  }
  return html`
    <form ref=${form} onSubmit=${submit} aria-busy=${busy}>
      <input class="visually-hidden" type="text" name="name" value=${name} autocomplete="username" tabindex="-1" aria-hidden="true" readonly />
      <${Field}
        label=${t.invitation.password}
        hint=${t.invitation.rules}
        name="password"
        type="password"
        autocomplete="new-password"
        required
      />
      <${Failure} message=${error} />
      <button type="submit" class="primary wide" aria-disabled=${busy}>${busy ? t.working : t.invitation.submit}</button>
    </form>
  `
}
