/**
 * What only this browser keeps: the server has neither conversations nor prompts of videos.
 * @template Value
 * @typedef {{ user: string, id: string, at: number, value: Value }} Kept `at`: when it was last changed, in
 * milliseconds since 1970
 */

const names = /** @type {const} */ (['conversations', 'videos'])

/** @typedef {typeof names[number]} StoreName */

/** @type {Promise<IDBDatabase> | undefined} */
let database

/** @template Result @param {IDBRequest<Result>} request @returns {Promise<Result>} */
const resultOf = (request) =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
  })

const open = () => {
  const request = indexedDB.open('sluice-console', 1)
  request.onupgradeneeded = () => {
    for (const name of names)
      request.result.createObjectStore(name, { keyPath: ['user', 'id'] }).createIndex('at', ['user', 'at'])
  }
  return resultOf(request)
}

/**
 * A part of the browser's database, for one user: several may use one browser.
 *
 * A browser without one, such as in a private window, keeps nothing: then all is as in a new browser.
 * @template Value
 * @param {StoreName} name
 * @param {string} user id of the user
 * @param {number} max entries; the oldest ones beyond are removed
 */
export const openBrowserStore = (name, user, max) => {
  /**
   * @template Result
   * @param {IDBTransactionMode} mode
   * @param {(store: IDBObjectStore) => Promise<Result>} act
   */
  const run = async (mode, act) => {
    database ??= open()
    database.catch(() => {
      database = undefined
    })
    return act((await database).transaction(name, mode).objectStore(name))
  }
  const range = IDBKeyRange.bound([user, 0], [user, Number.MAX_SAFE_INTEGER])
  return {
    /** All entries, newest first. @returns {Promise<readonly Kept<Value>[]>} */
    all: () =>
      run('readonly', async (store) => (await resultOf(store.index('at').getAll(range))).reverse()).catch(() => []),
    /** @param {string} id @param {Value} value */
    put: (id, value) =>
      run('readwrite', async (store) => {
        await resultOf(store.put({ user, id, at: Date.now(), value }))
        const keys = await resultOf(store.index('at').getAllKeys(range))
        await Promise.all(keys.slice(0, Math.max(0, keys.length - max)).map((key) => resultOf(store.delete(key))))
      }).catch(() => {}),
    /** @param {string} id */
    remove: (id) => run('readwrite', (store) => resultOf(store.delete([user, id]))).catch(() => {}),
    clear: () =>
      run('readwrite', async (store) => {
        const keys = await resultOf(store.index('at').getAllKeys(range))
        await Promise.all(keys.map((key) => resultOf(store.delete(key))))
      }).catch(() => {}),
  }
}
