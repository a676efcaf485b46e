import { createHmac } from 'node:crypto'
import { areMacsEqual } from '../../shared/identity/equal-secrets.ts'

/** Path of the callback route below the prefix, before the id and the key of a task. */
export const callbackPath = '/contents/generations/callbacks'

/** The key in the address for callbacks about a task: nobody can guess it, and no store keeps it. */
export const callbackKey = (secret: string, id: string): string =>
  createHmac('sha256', secret).update(`video callback ${id}`).digest('base64url')

/** Whether a key belongs to a task. Takes the same time for every wrong one. */
export const isCallbackKey = (secret: string, id: string, key: string): boolean =>
  areMacsEqual(key, callbackKey(secret, id))
