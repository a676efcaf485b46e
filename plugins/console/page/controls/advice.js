import { useEffect, useState } from 'preact/hooks'
import { send } from '../api/api.js'
import { paths } from '../api/paths.js'
import { language } from '../words/words.js'

/** @typedef {{ text: string, change: string | null, retry: boolean }} Advice what to do about a failure */

/** @type {Map<string, Promise<Advice | undefined>>} */
const known = new Map()

/** @param {string} code @param {string} message @returns {Promise<Advice | undefined>} */
const readAdvice = async (code, message) => {
  const query = new URLSearchParams(message ? { message } : {})
  const response = await send(`${paths.failureAdvice}/${encodeURIComponent(code)}?${query}`)
  const { advice } = await response.json()
  return { text: advice.text[language], change: advice.change, retry: advice.retry }
}

/**
 * What the server knows about an error code of the vendor, in the reader's language. Undefined while it is loaded, and
 * when nothing is known.
 * @param {string | undefined} code
 * @param {string | undefined} message
 */
export const useAdvice = (code, message = '') => {
  const [advice, setAdvice] = useState(/** @type {Advice | undefined} */ (undefined))
  useEffect(() => {
    setAdvice(undefined)
    if (!code || !paths.failureAdvice) return
    let current = true
    const key = `${code} ${message}`
    // What is not known to the server is not asked again.
    const loading = known.get(key) ?? readAdvice(code, message).catch(() => undefined)
    known.set(key, loading)
    void loading.then((found) => current && setAdvice(found))
    return () => {
      current = false
    }
  }, [code, message])
  return advice
}
