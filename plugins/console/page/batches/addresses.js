import { typeByExtension } from '../assets/asset.js'
import { uniqueName } from './batch.js'

/** @typedef {{ line: number, fault: 'address' | 'name' | 'twice' }} Fault */

/** Characters of the name of an asset. */
const maxName = 64

/**
 * Reads addresses of files, one in each line, with a name after a space or a tab. Empty lines are left out.
 * @param {string} text
 * @param {string} type of all of them. Empty: by the address
 * @returns {{ items: readonly import('./batch.js').NewItem[], faults: readonly Fault[] }}
 */
export const readAddresses = (text, type) => {
  /** @type {Fault[]} */
  const faults = []
  const lines = text.split('\n').map((line, at) => ({ line: at + 1, ...partsOf(line) }))
  const filled = lines.filter(({ address }) => address !== '')
  /** @type {Set<string>} */
  const taken = new Set()
  for (const { line, address, name } of filled) {
    if (!isAddress(address)) faults.push({ line, fault: 'address' })
    if ([...name].length > maxName) faults.push({ line, fault: 'name' })
    else if (name && taken.has(name)) faults.push({ line, fault: 'twice' })
    if (name) taken.add(name)
  }
  if (faults.length > 0) return { items: [], faults }
  const items = filled.map(({ address, name }) => ({
    ...{ URL: address, AssetType: type || typeByExtension(address) },
    ...named(name, fileNameIn(address), taken),
  }))
  return { items, faults }
}

/**
 * The name of an item. Without one, the server gives it a name.
 * @param {string} name
 * @param {string} file
 * @param {Set<string>} taken
 */
const named = (name, file, taken) => {
  if (name) return { Name: name }
  return file ? { Name: uniqueName(taken, file) } : {}
}

/** @param {string} line */
const partsOf = (line) => {
  const [, address = '', name = ''] = /^\s*(\S*)\s*(.*?)\s*$/.exec(line) ?? []
  return { address, name }
}

/** @param {string} text */
const isAddress = (text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)

/** The name of the file without its extension. @param {string} address */
const fileNameIn = (address) => {
  const last = new URL(address).pathname.split('/').at(-1) ?? ''
  try {
    return decodeURIComponent(last).replace(/\.\w{1,5}$/, '')
  } catch {
    return last
  }
}
