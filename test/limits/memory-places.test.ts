import { describe } from 'bun:test'
import { memoryPlaces } from '../../plugins/upstream-proxy/index.ts'
import { placesKeepTheirPromises } from './place-promises.ts'

describe('places in memory', () => {
  const places = memoryPlaces()
  placesKeepTheirPromises(() => [places])
})
