import { describe, expect, test } from 'bun:test'
import type { AnyElysia } from 'elysia'
import { gateway } from '../../plugins/asset-library/index.ts'
import { rest } from '../../plugins/upstream-proxy/index.ts'
import { openStore } from '../../src/store/index.ts'
import { MemoryStore } from '../ownership/memory.ts'
import { libraryPath, libraryRoutes, openaiVideoRoutes, textRoutes, videoRoutes } from '../support/route-table.ts'
import { identify, openaiVideosNamed, textNamed, videosNamed } from './fixture.ts'
import { codeOf, sources } from './sources.ts'

const store = openStore('sqlite::memory:')

/** What a pattern finds in a source file without its comments. */
const read = (folder: string, path: string, pattern: RegExp) => {
  const [source] = sources(folder).filter((each) => each.path === path)
  return [...codeOf(source ?? { path: '', text: '' }).matchAll(pattern)].map(([, method = '', ...rest]) => [
    method.toUpperCase(),
    ...rest,
  ])
}

/** The routes of an app that have a guard. Those for 404 and 405 have none. */
const guardedRoutes = (app: AnyElysia) =>
  app.routes
    .filter((route) => [route.hooks.beforeHandle].flat().some((hook) => hook !== undefined))
    .map(({ method, path }) => `${method} ${path}`)
    .sort()

describe('the route table of the gateway', () => {
  test('the source has exactly these routes and guards', () => {
    const routes = read(
      'plugins/asset-library',
      'plugins/asset-library/index.ts',
      /\.(get|post|put|patch|delete)\('([^']*)',[^{]*?\{\s+(\w+):/g,
    )
    expect(routes.filter(([, path]) => path?.startsWith('/assets')).sort()).toEqual(
      libraryRoutes.map((row) => [...row]).sort(),
    )
  })

  test('every guarded route of the app is in the table', () => {
    const app = gateway({
      kind: rest({ url: 'http://upstream.invalid', key: 'upstream-key' }),
      store: new MemoryStore(),
      shares: { store },
      identify,
      secrets: ['page-secret, a secret of the tests'],
      batches: store,
      consents: { store },
      uses: () => {
        throw new Error('is called for no route')
      },
    })
    expect(guardedRoutes(app).filter((route) => route.includes('/assets'))).toEqual(
      libraryRoutes.map(([method, path]) => `${method} ${libraryPath}${path}`).sort(),
    )
  })
})

describe('the route table of text generation', () => {
  test('the source has exactly these routes, all guarded', () => {
    const pattern = /\.(get|post|put|patch|delete)\(\s*'([^']*)',[\s\S]*?\{\s*generates: true/g
    const routes = read('plugins/text-generation', 'plugins/text-generation/index.ts', pattern)
    expect(routes).toEqual(textRoutes.map((row) => [...row]))
  })

  test('every guarded route of the app is in the table', () => {
    expect(guardedRoutes(textNamed('one'))).toEqual(textRoutes.map(([method, path]) => `${method} /v1${path}`).sort())
  })
})

describe('the route table of video generation', () => {
  test('the source has exactly these routes, all guarded', () => {
    const pattern = /\.(get|post|put|patch|delete)\(\s*'([^']*)',(?:(?!\n {4}\.)[\s\S])*?\{\s*generatesVideos: true/g
    const routes = read('plugins/video-generation', 'plugins/video-generation/index.ts', pattern)
    expect(routes).toEqual(videoRoutes.map((row) => [...row]))
  })

  test('every guarded route of the app is in the table', () => {
    const routes = videoRoutes.map(([method, path]) => `${method} /api/v3${path}`)
    expect(guardedRoutes(videosNamed('one'))).toEqual(routes.sort())
  })

  test('so are those of the OpenAI API', () => {
    const pattern = /\.(get|post|put|patch|delete)\('([^']*)', [^{]*\{ makesVideos: true/g
    const routes = read('plugins/video-generation', 'plugins/video-generation/videos/index.ts', pattern)
    expect(routes).toEqual(openaiVideoRoutes.map((row) => [...row]))
    const paths = openaiVideoRoutes.map(([method, path]) => `${method} /v1/videos${path}`)
    expect(guardedRoutes(openaiVideosNamed('one'))).toEqual(paths.sort())
  })
})
