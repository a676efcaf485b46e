import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { isAbort, isUnknown, messageOf } from '../api/api-error.js'
import { paths } from '../api/paths.js'
import { assetsPath, readAsset, titleOf } from '../assets/asset.js'
import { useAssetWatch } from '../assets/asset-watch.js'
import { createBatch, maxItems, uniqueName } from '../batches/batch.js'
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
 * @property {'waiting' | 'sending' | 'sent' | 'creating' | 'processing' | 'failed'} state `sent`: it waits for the others
 * of its batch
 * @property {number} sent bytes
 * @property {string} key the Idempotency-Key of the asset's creation: a retry creates no second asset
 * @property {string} [batch] key of the files that become assets with one request
 * @property {string} [address] of the uploaded file
 * @property {Asset} [asset]
 * @property {string} [error]
 */
/** @typedef {{ id: string, target: Target }} AddedBatch */
/** @typedef {ReturnType<typeof useUploads>} Uploads */

/**
 * Files that are sent at the same time. A browser opens few connections to a server, and the page needs some for other
 * requests.
 */
const maxConcurrent = 3

/** From so many files on, a batch creates the assets: single creations would soon meet a rate limit. */
const manyFiles = 10

/**
 * Uploads of local files, each of which becomes an asset. An upload leaves the list when its asset is active, or when
 * the user removes it.
 *
 * They go on when the user changes the screen.
 */
export const useUploads = () => {
  const api = useApi()
  const [items, setItems] = useState(/** @type {readonly Upload[]} */ ([]))
  const [batches, setBatches] = useState(/** @type {readonly AddedBatch[]} */ ([]))
  const lastId = useRef(0)
  const requests = useRef(/** @type {Map<number, AbortController>} */ (new Map()))
  const listeners = useRef(/** @type {Set<(asset: Asset) => void>} */ (new Set()))

  const changeAll = (/** @type {readonly number[]} */ ids, /** @type {Partial<Upload>} */ changes) =>
    setItems((before) => before.map((item) => (ids.includes(item.id) ? { ...item, ...changes } : item)))
  const change = (/** @type {number} */ id, /** @type {Partial<Upload>} */ changes) => changeAll([id], changes)
  const removeAll = (/** @type {readonly number[]} */ ids) => {
    for (const id of ids) requests.current.get(id)?.abort()
    setItems((before) => before.filter(({ id }) => !ids.includes(id)))
  }
  const remove = (/** @type {number} */ id) => removeAll([id])
  const notify = (/** @type {Asset} */ asset) => {
    for (const listener of listeners.current) listener(asset)
  }

  /** Sends the file, unless that is done already, and creates the asset. @param {Upload} upload */
  const run = async ({ id, file, target, key, batch, address: sent }) => {
    const controller = new AbortController()
    requests.current.set(id, controller)
    change(id, { state: sent ? 'creating' : 'sending', sent: sent ? file.size : 0, error: undefined })
    try {
      const address = sent ?? (await sendFile(api, id, file, controller.signal, change))
      if (batch !== undefined) {
        requests.current.delete(id)
        return change(id, { state: 'sent', sent: file.size, address })
      }
      change(id, { state: 'creating', address })
      const asset = await createAsset(api, { file, target, key, address })
      change(id, { state: 'processing', asset })
      notify(asset)
    } catch (error) {
      // The others of its batch go on without it.
      if (!isAbort(error)) change(id, { state: 'failed', error: messageOf(error), batch: undefined })
    }
    requests.current.delete(id)
  }

  /** Creates the assets of the files that were sent. @param {string} key @param {readonly Upload[]} set */
  const runBatch = async (key, set) => {
    const [first] = set
    if (!first) return
    const ids = set.map(({ id }) => id)
    changeAll(ids, { state: 'creating', error: undefined })
    try {
      const { Id } = await createBatch(api, first.target, itemsOf(set), key)
      removeAll(ids)
      setBatches((before) => [...before, { id: Id, target: first.target }])
    } catch (error) {
      changeAll(ids, { state: 'failed', error: messageOf(error) })
    }
  }

  useEffect(() => {
    const running = items.filter(({ state, batch }) => state === 'sending' || (state === 'creating' && !batch)).length
    for (const item of items.filter(({ state }) => state === 'waiting').slice(0, maxConcurrent - running))
      void run(item)
    for (const [key, set] of setsOf(items)) if (set.every(({ state }) => state === 'sent')) void runBatch(key, set)
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
      if (isUnknown(error)) remove(upload.id)
      else throw error
    }
  }
  useAssetWatch(
    processing.map(({ asset }) => asset?.Id ?? ''),
    read,
  )
  useWarningBeforeClose(items.some(({ state }) => state !== 'processing' && state !== 'failed'))

  return {
    /** Those of one file each. */
    items: items.filter(({ batch }) => batch === undefined),
    /** Those that become assets with one request, by their key. */
    sets: setsOf(items),
    /** Batches that were created of such files. */
    batches,
    /** @param {string} id */
    forgetBatch: (id) => setBatches((before) => before.filter((one) => one.id !== id)),
    /**
     * @param {readonly File[]} files
     * @param {Target} target
     */
    add: (files, target) => {
      const keys = files.length >= manyFiles && paths.batches ? keysFor(files) : []
      setItems((before) => [
        ...before,
        ...files.map((file, at) => ({
          ...{ id: ++lastId.current, file, target, sent: 0, key: crypto.randomUUID() },
          ...{ state: /** @type {const} */ ('waiting'), batch: keys[Math.floor(at / maxItems)] },
        })),
      ])
    },
    /** @param {number} id */
    retry: (id) => change(id, { state: 'waiting' }),
    /** Tries the creation of a batch again. @param {readonly Upload[]} set */
    retryAll: (set) =>
      changeAll(
        set.map(({ id }) => id),
        { state: 'sent' },
      ),
    remove,
    /** @param {readonly Upload[]} set */
    removeAll: (set) => removeAll(set.map(({ id }) => id)),
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

/** A key for each batch of some files. @param {readonly File[]} files */
const keysFor = (files) => Array.from({ length: Math.ceil(files.length / maxItems) }, () => crypto.randomUUID())

/** The files of each batch. @param {readonly Upload[]} items @returns {ReadonlyMap<string, readonly Upload[]>} */
const setsOf = (items) => {
  /** @type {Map<string, Upload[]>} */
  const sets = new Map()
  for (const item of items) {
    if (item.batch === undefined) continue
    const set = sets.get(item.batch)
    if (set) set.push(item)
    else sets.set(item.batch, [item])
  }
  return sets
}

/** The assets of files that were sent: each has a name of its own. @param {readonly Upload[]} set */
const itemsOf = (set) => {
  /** @type {Set<string>} */
  const taken = new Set()
  return set.map(({ file, address = '' }) => ({
    ...{ URL: address, AssetType: typeOf(address), Name: uniqueName(taken, nameOf(file) || t.uploads.file) },
  }))
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
