import { render } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { Invitation } from './account/invitation.js'
import { Login } from './account/login.js'
import { Access } from './account/tokens.js'
import { paths } from './api/paths.js'
import { Assets } from './assets/assets.js'
import { Groups } from './assets/groups.js'
import { Chat } from './chat/chat.js'
import { useConversation } from './chat/conversation.js'
import { html } from './controls/html.js'
import { Icon, Logo } from './controls/icons.js'
import { Failure, Loading } from './controls/placeholder.js'
import { showToast, Toast } from './controls/toast.js'
import { Face } from './face/face.js'
import { useVerification } from './face/verification.js'
import { ApiContext, useAction } from './frame/hooks.js'
import { linkTo, useRoute } from './frame/route.js'
import { useSession } from './frame/session.js'
import { useUploads } from './uploads/uploads.js'
import { Usage } from './usage/usage.js'
import { VideoScreen } from './videos/video-screen.js'
import { useVideos } from './videos/videos.js'
import { language, t } from './words/words.js'

/** @typedef {'groups' | 'videos' | 'face' | 'chat' | 'usage' | 'tokens'} Screen */
/** @type {readonly Screen[]} */
const screens = ['groups', 'videos', 'face', 'chat', 'usage', 'tokens']

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

/**
 * The frame around every screen. It holds the state that outlives a change of the screen: the conversation, the face
 * verification, the uploads, and the video tasks.
 * @param {{ user: import('./frame/session.js').User, justLoggedIn: boolean, logout: () => Promise<void> }} props
 */
const Layout = ({ user, justLoggedIn, logout }) => {
  const { screen, parts } = useRoute()
  const current = screens.find((one) => one === screen) ?? 'groups'
  const conversation = useConversation()
  const verification = useVerification()
  const uploads = useUploads()
  const videos = useVideos({ shown: current === 'videos' })
  const loggingOut = useAction(logout)
  useEffect(() => {
    if (loggingOut.error) showToast(loggingOut.error, { isError: true })
  }, [loggingOut.error])

  const skipFocus = useRef(!justLoggedIn)
  useEffect(() => {
    document.title = `${t.nav[current]} · sluice`
    // After a change of the screen a screen reader continues at the heading. After the page was loaded it starts at the
    // top.
    if (skipFocus.current) skipFocus.current = false
    else focusHeading()
  }, [current, parts.join('/')])

  return html`
    <a class="skip" href="#main" onClick=${skip}>${t.skip}</a>
    <header>
      <a class="brand" href=${linkTo('groups')}><${Logo} /><span>sluice</span></a>
      <div class="account">
        <p title=${user.name}><span class="visually-hidden">${t.loggedInAs} </span>${user.name}</p>
        <button type="button" class="plain" aria-disabled=${loggingOut.busy} onClick=${() => loggingOut.run()}>
          <${Icon} name="leave" /><span>${t.logout}</span>
        </button>
      </div>
    </header>
    <nav aria-label=${t.nav.label}>
      <ul>
        ${screens.map(
          (one) => html`
            <li key=${one}>
              <a href=${linkTo(one)} aria-current=${one === current ? 'page' : undefined}>
                <${Icon} name=${one} /><span>${t.nav[one]}</span>
              </a>
            </li>
          `,
        )}
      </ul>
    </nav>
    <main id="main" class=${current}>
      ${current === 'groups' && groups(parts, uploads)}
      ${current === 'videos' && html`<${VideoScreen} videos=${videos} part=${parts[0]} />`}
      ${current === 'face' && html`<${Face} verification=${verification} />`}
      ${current === 'chat' && html`<${Chat} conversation=${conversation} />`}
      ${current === 'usage' && html`<${Usage} />`}
      ${current === 'tokens' && html`<${Access} part=${parts[0]} />`}
    </main>
    <${Toast} />
  `
}

/**
 * @param {readonly string[]} parts
 * @param {import('./uploads/uploads.js').Uploads} uploads
 */
const groups = ([type, id], uploads) => {
  const known = type === 'LivenessFace' ? type : 'AIGC'
  return id
    ? html`<${Assets} key=${id} type=${known} id=${id} uploads=${uploads} />`
    : html`<${Groups} key=${known} type=${known} />`
}

const focusHeading = () => {
  scrollTo(0, 0)
  const heading = document.querySelector('main h1')
  if (heading instanceof HTMLElement) heading.focus({ preventScroll: true })
}

/** @param {Event} event */
const skip = (event) => {
  event.preventDefault()
  focusHeading()
}

document.documentElement.lang = language
document.title = t.title
render(html`<${App} />`, /** @type {HTMLElement} */ (document.getElementById('app')))
