import { useEffect, useRef } from 'preact/hooks'
import { useConnectionLost } from '../api/connection.js'
import { useConversation } from '../chat/conversation.js'
import { html } from '../controls/html.js'
import { Icon, Logo } from '../controls/icons.js'
import { Empty, Failure, Loading } from '../controls/placeholder.js'
import { showToast, Toast } from '../controls/toast.js'
import { useVerification } from '../face/verification.js'
import { useUploads } from '../uploads/uploads.js'
import { useVideos } from '../videos/videos.js'
import { t } from '../words/words.js'
import { screenAt } from './addresses.js'
import { useAction } from './hooks.js'
import { NotFound } from './not-found.js'
import { useRole } from './role.js'
import { linkTo, useRoute } from './route.js'
import { sectionOf, useScreen } from './screens.js'

/** The screens of the navigation. @type {readonly ReturnType<typeof sectionOf>[]} */
const navigation = ['groups', 'videos', 'face', 'chat', 'usage', 'tokens']

/**
 * The frame around every screen. It holds the state that outlives a change of the screen: the conversation, the face
 * verification, the uploads, and the video tasks.
 * @param {{ user: import('./session.js').User, justLoggedIn: boolean, logout: () => Promise<void> }} props
 */
export const Layout = ({ user, justLoggedIn, logout }) => {
  const route = useRoute()
  const { parts } = route
  const current = screenAt(route)
  const role = useRole(user.id, current === 'admin')
  // Nobody else loads the operators' screens.
  const isAllowed = current !== 'admin' || role === 'admin'
  const { screen: Screen, failed } = useScreen(isAllowed ? current : undefined)
  const conversation = useConversation({ user: user.id })
  const verification = useVerification()
  const uploads = useUploads()
  const videos = useVideos({ shown: current === 'videos', user: user.id })
  const section = current && sectionOf(current)
  const loggingOut = useAction(logout)
  useEffect(() => {
    if (loggingOut.error) showToast(loggingOut.error.message, { isError: true })
  }, [loggingOut.error])

  const skipFocus = useRef(!justLoggedIn)
  useEffect(() => {
    document.title = `${section ? t.nav[section] : t.notFound.title} · sluice`
    if (current && !Screen) return
    showCurrentTabs()
    // After a change of the screen a screen reader continues at the heading. After the page was loaded it starts at the
    // top.
    if (skipFocus.current) skipFocus.current = false
    else focusHeading()
  }, [current, parts.join('/'), Screen])

  const isLost = useConnectionLost()
  return html`
    <a class="skip" href="#main" onClick=${skip}>${t.skip}</a>
    <header>
      <a class="brand" href=${linkTo('groups')}><${Logo} /><span>sluice</span></a>
      <div class="session">
        <a class="who" href=${linkTo('account')} title=${user.name} aria-current=${current === 'account' ? 'page' : undefined}>
          <span class="visually-hidden">${t.loggedInAs} </span>${user.name}
        </a>
        <button type="button" class="plain" aria-disabled=${loggingOut.busy} onClick=${() => loggingOut.run()}>
          <${Icon} name="leave" /><span>${t.logout}</span>
        </button>
      </div>
    </header>
    <nav aria-label=${t.nav.label}>
      <ul>
        ${(role === 'admin' ? [...navigation, /** @type {const} */ ('admin')] : navigation).map(
          (one) => html`
            <li key=${one}>
              <a href=${linkTo(one)} aria-current=${one === section ? 'page' : undefined}>
                <${Icon} name=${one} /><span>${t.nav[one]}</span>
              </a>
            </li>
          `,
        )}
      </ul>
    </nav>
    <main id="main" class=${current ?? ''}>
      <div role="status">${isLost && html`<p class="notice"><${Icon} name="alert" />${t.errors.lost}</p>`}</div>
      ${!section && html`<${NotFound} />`}
      ${
        Screen
          ? html`<${Screen} parts=${parts} user=${user} conversation=${conversation} verification=${verification} uploads=${uploads} videos=${videos} />`
          : section &&
            html`
              <div class="heading"><h1 tabindex="-1">${t.nav[section]}</h1></div>
              ${current === 'admin' && role === 'user' && html`<${Empty} icon="alert" title=${t.onlyAdmins}><p>${t.onlyAdminsHint}</p><//>`}
              ${failed ? html`<${Failure} message=${t.errors.notLoaded} retry=${reload} retryLabel=${t.reload} />` : role !== 'user' || isAllowed ? html`<${Loading} kind="rows" />` : undefined}
            `
      }
    </main>
    <${Toast} />
  `
}

/** Also after a new version of the server, which no longer has the files of the old page. */
const reload = () => location.reload()

const focusHeading = () => {
  scrollTo(0, 0)
  const heading = document.querySelector('main h1')
  if (heading instanceof HTMLElement) heading.focus({ preventScroll: true })
}

/** On a narrow screen, tabs scroll in their own box: the current one must be in view. */
const showCurrentTabs = () => {
  for (const current of document.querySelectorAll('main .tabs [aria-current]')) {
    const tabs = current.parentElement
    if (!tabs) continue
    const [inner, outer] = [current.getBoundingClientRect(), tabs.getBoundingClientRect()]
    tabs.scrollLeft += inner.left - outer.left - (outer.width - inner.width) / 2
  }
}

/** @param {Event} event */
const skip = (event) => {
  event.preventDefault()
  focusHeading()
}
