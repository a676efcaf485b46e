import { html } from '../controls/html.js'
import { Failure, Loading } from '../controls/placeholder.js'
import { showToast } from '../controls/toast.js'
import { useAction, useApi, useLoaded } from '../frame/hooks.js'
import { formatTime, parseTime } from '../words/format.js'
import { t } from './words.js'

/**
 * @typedef {{ id: string, created_at: string, last_used_at: string, expires_at: string, user_agent: string | null,
 * current: boolean }} Session
 */

/**
 * Where the user is logged in, to log out there.
 * @param {{ path: string }} props
 */
export const Sessions = ({ path }) => {
  const api = useApi()
  const list = useLoaded(async (signal) => {
    return /** @type {readonly Session[]} */ ((await api.request(path, { signal })).sessions)
  }, [])
  const ending = useAction(async (/** @type {string | undefined} */ id) => {
    await api.request(id === undefined ? path : `${path}/${encodeURIComponent(id)}`, { method: 'DELETE' })
    list.change((sessions) => sessions.filter((one) => one.current || (id !== undefined && one.id !== id)))
    showToast(id === undefined ? t.sessions.othersEnded : t.sessions.ended)
  })
  const others = (list.value ?? []).filter(({ current }) => !current)
  return html`
    <section>
      <div class="heading">
        <h2>${t.sessions.title}</h2>
        ${others.length > 1 && html`<button type="button" class="danger" aria-disabled=${ending.busy} onClick=${() => ending.run(undefined)}>${t.sessions.endOthers}</button>`}
      </div>
      <${Failure} message=${list.error} retry=${list.reload} />
      <${Failure} message=${ending.error} />
      ${!list.value && list.busy && html`<${Loading} kind="rows" count=${1} />`}
      ${
        list.value &&
        html`
          <ul class="rows">
            ${list.value.map((session) => {
              const title = titleOf(session.user_agent)
              const used = parseTime(session.last_used_at)
              const began = parseTime(session.created_at)
              return html`
                <li key=${session.id}>
                  <div class="item-text">
                    <p class="name">${title}${session.current && html` <span class="badge">${t.sessions.current}</span>`}</p>
                    <p class="hint">
                      ${used && html`<span>${t.sessions.lastUsed} <time datetime=${used.toISOString()}>${formatTime(used)}</time></span>`}
                      ${began && html`<span>${t.sessions.began} <time datetime=${began.toISOString()}>${formatTime(began)}</time></span>`}
                    </p>
                  </div>
                  <div class="actions">
                    ${!session.current && html`<button type="button" class="small danger" aria-disabled=${ending.busy} aria-label=${t.sessions.endOf(title)} onClick=${() => ending.run(session.id)}>${t.logout}</button>`}
                  </div>
                </li>
              `
            })}
          </ul>
        `
      }
    </section>
  `
}

/** @type {readonly (readonly [RegExp, string])[]} */
const browsers = [
  [/Edg\//, 'Edge'],
  [/OPR\//, 'Opera'],
  [/Firefox\//, 'Firefox'],
  [/Chrome\//, 'Chrome'],
  [/Safari\//, 'Safari'],
]
/** @type {readonly (readonly [RegExp, string])[]} */
const systems = [
  [/Android/, 'Android'],
  [/iPhone|iPad/, 'iOS'],
  [/Windows/, 'Windows'],
  [/Mac OS X/, 'macOS'],
  [/Linux/, 'Linux'],
]

/**
 * The browser and the system, as the header `User-Agent` names them.
 * @param {string | null} userAgent
 */
const titleOf = (userAgent) => {
  const named = (/** @type {readonly (readonly [RegExp, string])[]} */ names) =>
    names.find(([pattern]) => pattern.test(userAgent ?? ''))?.[1]
  const browser = named(browsers)
  const system = named(systems)
  if (browser) return system ? t.sessions.browserOn(browser, system) : browser
  return userAgent?.slice(0, 40) || t.sessions.unknown
}
