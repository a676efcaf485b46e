import { useEffect, useState } from 'preact/hooks'
import { AssetScreen } from '../assets/asset-screen.js'
import { html } from '../controls/html.js'

/** @typedef {import('./addresses.js').ScreenName} ScreenName */

/**
 * What a screen gets from the frame: the parts of the route, and the state that outlives a change of the screen.
 * @typedef {object} ScreenProps
 * @property {readonly string[]} parts
 * @property {import('./session.js').User} user
 * @property {import('../chat/conversation.js').Conversation} conversation
 * @property {import('../face/verification.js').Verification} verification
 * @property {import('../uploads/uploads.js').Uploads} uploads
 * @property {import('../videos/videos.js').Videos} videos
 */
/** @typedef {(props: ScreenProps) => import('preact').VNode} Screen */

/**
 * The screens. The first one comes with the page; each of the others is loaded when it is first opened.
 * @satisfies {Record<ScreenName, () => Promise<Screen>>}
 */
const screens = {
  groups: async () => groups,
  asset: async () => {
    const { AssetPage } = await import('../assets/asset-page.js')
    return ({ parts: [id = ''], videos }) => html`<${AssetPage} key=${id} id=${id} videos=${videos} />`
  },
  shares: async () => {
    const { Shares } = await import('../shares/shares.js')
    return ({ parts: [id = ''] }) => html`<${Shares} key=${id} id=${id} />`
  },
  consents: async () => {
    const { ConsentScreen } = await import('../consents/consent-screen.js')
    return ({ parts: [id = ''], user }) => html`<${ConsentScreen} key=${id} id=${id} user=${user.id} />`
  },
  batches: async () => {
    const { BatchScreen } = await import('../batches/batch-screen.js')
    return ({ parts, uploads }) => html`<${BatchScreen} parts=${parts} uploads=${uploads} />`
  },
  videos: async () => {
    const { VideoScreen } = await import('../videos/video-screen.js')
    return ({ parts, videos }) => html`<${VideoScreen} videos=${videos} part=${parts[0]} />`
  },
  face: async () => {
    const { Face } = await import('../face/face.js')
    return ({ verification }) => html`<${Face} verification=${verification} />`
  },
  chat: async () => {
    const { Chat } = await import('../chat/chat.js')
    return ({ parts, conversation }) => html`<${Chat} conversation=${conversation} part=${parts[0]} />`
  },
  usage: async () => {
    const { Usage } = await import('../usage/usage.js')
    return () => html`<${Usage} />`
  },
  account: async () => {
    const { AccountScreen } = await import('../account/account.js')
    return () => html`<${AccountScreen} />`
  },
  tokens: async () => {
    const { Access } = await import('../account/access.js')
    return ({ parts }) => html`<${Access} part=${parts[0]} />`
  },
  admin: async () => {
    const { Admin } = await import('../admin/admin.js')
    return ({ parts }) => html`<${Admin} parts=${parts} />`
  },
}

/** @type {Screen} */
const groups = ({ parts, uploads }) => html`<${AssetScreen} parts=${parts} uploads=${uploads} />`

/** The screens whose modules are loaded. @type {Map<ScreenName, Screen>} */
const loaded = new Map([['groups', groups]])

/** The screens that are a part of the asset library. @type {ReadonlySet<string>} */
const ofLibrary = new Set(['asset', 'shares', 'consents', 'batches'])

/** The entry of the navigation to which a screen belongs. @param {ScreenName} name */
export const sectionOf = (name) =>
  ofLibrary.has(name)
    ? 'groups'
    : /** @type {Exclude<ScreenName, 'asset' | 'shares' | 'consents' | 'batches'>} */ (name)

/**
 * Loads the modules of a screen. Rejects when they cannot be loaded; the next call tries again.
 * @param {ScreenName} name
 */
export const loadScreen = async (name) => {
  const screen = loaded.get(name) ?? (await screens[name]())
  loaded.set(name, screen)
  return screen
}

/**
 * The screen of a name. Undefined while it loads.
 * @param {ScreenName | undefined} name undefined: none
 * @returns {{ screen: Screen | undefined, failed: boolean }}
 */
export const useScreen = (name) => {
  const [, setChanges] = useState(0)
  const [failed, setFailed] = useState(/** @type {ScreenName | undefined} */ (undefined))
  useEffect(() => {
    if (!name || loaded.has(name)) return
    setFailed(undefined)
    loadScreen(name).then(
      () => setChanges((before) => before + 1),
      () => setFailed(name),
    )
  }, [name])
  return { screen: name && loaded.get(name), failed: name !== undefined && failed === name }
}
