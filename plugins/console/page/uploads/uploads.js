import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { ApiError, isAbort, messageOf } from '../api/api-error.js'
import { paths } from '../api/paths.js'
import { assetsPath, readAsset, titleOf } from '../assets/asset.js'
import { useAssetWatch } from '../assets/asset-watch.js'
import { showToast } from '../controls/toast.js'
import { useApi } from '../frame/hooks.js'
import { t } from '../words/words.js'

/** @typedef {import('../assets/asset.js').Asset} Asset */
/** @typedef {{ id: string, type: import('../assets/group.js').GroupType }} Target the group for which a file is uploaded */
/**
 * @typedef {object} Upload
 * @property {number} id
 * @property {File} file
 * @property {Target} target
 * @property {'waiting' | 'sending' | 'creating' | 'processing' | 'failed'} state
 * @property {number} sent bytes
 * @property {string} key the Idempotency-Key of the asset's creation: a retry creates no second asset
 * @property {string} [address] of the uploaded file
 * @property {Asset} [asset]
 * @property {string} [error]
 */
/** @typedef {ReturnType<typeof useUploads>} Uploads */

/**
 * Files that are sent at the same time. A browser opens few connections to a server, and the page needs some for other
 * requests.
 */
const maxConcurrent = 3

/**
 * Uploads of local files, each of which becomes an asset. An upload leaves the list when its asset is active, or when
 * the user removes it.
 *
 * They go on when the user changes the screen.
 */
export const useUploads = () => {
  const api = useApi()
  const [items, setItems] = useState(/** @type {readonly Upload[]} */ ([]))
  const lastId = useRef(0)
  const requests = useRef(/** @type {Map<number, AbortController>} */ (new Map()))
  const listeners = useRef(/** @type {Set<(asset: Asset) => void>} */ (new Set()))

  const change = (/** @type {number} */ id, /** @type {Partial<Upload>} */ changes) =>
    setItems((before) => before.map((item) => (item.id === id ? { ...item, ...changes } : item)))
  const remove = (/** @type {number} */ id) => {
    requests.current.get(id)?.abort()
    setItems((before) => before.filter((item) => item.id !== id))
  }
  const notify = (/** @type {Asset} */ asset) => {
    for (const listener of listeners.current) listener(asset)
  }

  /** Sends the file, unless that is done already, and creates the asset. @param {Upload} upload */
  const run = async ({ id, file, target, key, address: sent }) => {
    const controller = new AbortController()
    requests.current.set(id, controller)
    change(id, { state: sent ? 'creating' : 'sending', sent: sent ? file.size : 0, error: undefined })
    try {
      const address = sent ?? (await sendFile(api, id, file, controller.signal, change))
      change(id, { state: 'creating', address })
      const asset = await createAsset(api, { file, target, key, address })
      change(id, { state: 'processing', asset })
      notify(asset)
    } catch (error) {
      if (!isAbort(error)) change(id, { state: 'failed', error: messageOf(error) })
    }
    requests.current.delete(id)
  }

  useEffect(() => {
    const running = items.filter(({ state }) => state === 'sending' || state === 'creating').length
    for (const item of items.filter(({ state }) => state === 'waiting').slice(0, maxConcurrent - running))
      void run(item)
  }, [items])
  useEffect(
    () => () => {
      for (const request of requests.current.values()) request.abort()
    },
    [],
  )

  const processing = items.filter(({ state }) => state === 'processing')
  const read = async (/** @type {string} */ assetId) => {
    const upload = processing.find(({ asset }) => asset?.Id === assetId)
    if (!upload) return
    try {
      const current = await readAsset(api, assetId)
      if (current.Status === 'Processing') return
      notify(current)
      const isError = current.Status === 'Failed'
      showToast(t.assets.statusChanged(titleOf(current), t.assets.statuses[isError ? 'Failed' : 'Active']), { isError })
      remove(upload.id)
    } catch (error) {
      // Another client has deleted it.
      if (error instanceof ApiError && (error.status === 403 || error.status === 404)) remove(upload.id)
      else throw error
    }
  }
  useAssetWatch(
    processing.map(({ asset }) => asset?.Id ?? ''),
    read,
  )
  useWarningBeforeClose(items.some(({ state }) => state === 'waiting' || state === 'sending' || state === 'creating'))

  return {
    items,
    /**
     * @param {readonly File[]} files
     * @param {Target} target
     */
    add: (files, target) =>
      setItems((before) => [
        ...before,
        ...files.map((file) => ({
          ...{ id: ++lastId.current, file, target, sent: 0, key: crypto.randomUUID() },
          state: /** @type {const} */ ('waiting'),
        })),
      ]),
    /** @param {number} id */
    retry: (id) => change(id, { state: 'waiting' }),
    remove,
    /**
     * Calls a listener with each new state of an asset that an upload has created. Returns a function that removes the
     * listener.
     * @param {(asset: Asset) => void} listener
     */
    listen: useCallback((/** @type {(asset: Asset) => void} */ listener) => {
      listeners.current.add(listener)
      return () => {
        listeners.current.delete(listener)
      }
    }, []),
  }
}

/**
 * @param {import('../api/api.js').Api} api
 * @param {number} id
 * @param {File} file
 * @param {AbortSignal} signal
 * @param {(id: number, changes: Partial<Upload>) => void} change
 * @returns {Promise<string>} the address of the file
 */
const sendFile = async (api, id, file, signal, change) => {
  const onProgress = (/** @type {number} */ sent) => change(id, { sent })
  const { upload } = await api.upload(paths.uploads ?? '', file, { onProgress, signal })
  return String(upload.url)
}

/**
 * @param {import('../api/api.js').Api} api
 * @param {Pick<Upload, 'file' | 'target' | 'key'> & { address: string }} upload
 * @returns {Promise<Asset>}
 */
const createAsset = async (api, { file, target, key, address }) => {
  const name = nameOf(file)
  const AssetType = typeOf(address)
  const body = { GroupId: target.id, GroupType: target.type, URL: address, AssetType, ...(name && { Name: name }) }
  const { Result } = await api.requestWithToken(assetsPath, { method: 'POST', body, idempotencyKey: key })
  return { Id: String(Result.Id), GroupId: target.id, Name: name, AssetType, Status: 'Processing' }
}

/** The library accepts names of at most 64 characters. @param {File} file */
const nameOf = ({ name }) => [...name.replace(/\.[^.]*$/, '')].slice(0, 64).join('').trim()

/**
 * The server has recognized the file by its content, and given the link an extension that fits.
 * @param {string} address
 */
const typeOf = (address) => {
  const { pathname } = new URL(address)
  if (/\.(?:mp4|mov)$/.test(pathname)) return 'Video'
  return /\.(?:mp3|wav)$/.test(pathname) ? 'Audio' : 'Image'
}

/**
 * Lets the browser ask before it closes the page.
 * @param {boolean} enabled
 */
const useWarningBeforeClose = (enabled) => {
  useEffect(() => {
    if (!enabled) return
    const warn = (/** @type {Event} */ event) => event.preventDefault()
    addEventListener('beforeunload', warn)
    return () => removeEventListener('beforeunload', warn)
  }, [enabled])
}
