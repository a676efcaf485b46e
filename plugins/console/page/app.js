import { render } from 'preact'
import { Invitation } from './account/invitation.js'
import { Login } from './account/login.js'
import { paths } from './api/paths.js'
import { html } from './controls/html.js'
import { Logo } from './controls/icons.js'
import { Failure, Loading } from './controls/placeholder.js'
import { screenAt } from './frame/addresses.js'
import { ApiContext } from './frame/hooks.js'
import { Layout } from './frame/layout.js'
import { readRoute, useRoute } from './frame/route.js'
import { loadScreen } from './frame/screens.js'
import { useSession } from './frame/session.js'
import { preferences, showTheme } from './words/preferences.js'
import { language, t } from './words/words.js'

const App = () => {
  const { state, api, load, login, logout } = useSession()
  const { screen, parts } = useRoute()
  const [secret] = parts
  if (screen === 'invitation' && secret !== undefined && paths.invitations !== undefined)
    return html`<${Invitation} secret=${secret} login=${login} />`
  if (state.status === 'logged out') return html`<${Login} notice=${state.notice} login=${login} />`
  if (state.status === 'logged in') {
    return html`
      <${ApiContext.Provider} value=${api}>
        <${Layout} key=${state.user.id} user=${state.user} justLoggedIn=${state.justLoggedIn} logout=${logout} />
      <//>
    `
  }
  return html`
    <main class="login" id="main">
      <div class="brand"><${Logo} /><span>sluice</span></div>
      <h1 class="visually-hidden">${t.title}</h1>
      ${state.status === 'failed' ? html`<${Failure} message=${state.message} retry=${load} />` : html`<${Loading} kind="rows" count=${1} />`}
    </main>
  `
}

document.documentElement.lang = language
showTheme(preferences.theme)
document.title = t.title
// At the same time as the session. The frame shows a failure. The operators' screens wait for the role of the user.
const first = screenAt(readRoute(location.hash))
if (first && first !== 'admin') loadScreen(first).catch(() => {})
render(html`<${App} />`, /** @type {HTMLElement} */ (document.getElementById('app')))
