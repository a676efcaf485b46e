import { describe } from 'bun:test'
import { memoryPlaces } from '../../plugins/upstream-proxy/index.ts'
import { placesKeepTheirPromises } from './place-promises.ts'

describe('the in-memory rate limit store', () => {
  const places = memoryPlaces()
  placesKeepTheirPromises(() => [places])
})
