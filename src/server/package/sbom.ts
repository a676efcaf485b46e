import { Contrib, Enums, Models, Serialize, Spec } from '@cyclonedx/cyclonedx-library'

/** What is read of a package.json. */
export interface PackageManifest {
  readonly name: string
  readonly version: string
  readonly license?: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
}

const { ComponentBuilder } = Contrib.FromNodePackageJson.Builders
const { ExternalReferenceFactory, PackageUrlFactory } = Contrib.FromNodePackageJson.Factories
const { parsePackageIntegrity } = Contrib.FromNodePackageJson.Utils

const builder = new ComponentBuilder(new ExternalReferenceFactory(), new Contrib.License.Factories.LicenseFactory())
const urls = new PackageUrlFactory('npm')

/**
 * The software bill of materials of the published package, as JSON of CycloneDX 1.6: the packages whose code is in its
 * files, with their licenses and the hashes of the lock file. It has no time and no random number, so that the same
 * commit gives the same text.
 */
export const sbomOf = (own: PackageManifest, bundled: readonly PackageManifest[], lock: string): string => {
  const hashes = integritiesOf(lock)
  const product = componentOf(own, Enums.ComponentType.Application)
  const unique = new Map(bundled.map((manifest) => [`${manifest.name}@${manifest.version}`, manifest]))
  const components = [...unique].map(([id, manifest]) => {
    const integrity = hashes.get(id)
    if (integrity === undefined) throw new Error(`${id} is not in the lock file`)
    const component = componentOf(manifest, Enums.ComponentType.Library)
    component.hashes.set(...parsePackageIntegrity(integrity))
    product.dependencies.add(component.bomRef)
    return { manifest, component }
  })
  for (const { manifest, component } of components) {
    const needed = { ...manifest.dependencies, ...manifest.peerDependencies }
    for (const other of components) {
      if (other.manifest.name in needed) component.dependencies.add(other.component.bomRef)
    }
  }
  const bom = new Models.Bom({
    metadata: new Models.Metadata({ component: product }),
    components: new Models.ComponentRepository(components.map(({ component }) => component)),
  })
  const serializer = new Serialize.JsonSerializer(new Serialize.JSON.Normalize.Factory(Spec.Spec1dot6))
  return `${serializer.serialize(bom, { sortLists: true, space: 2 })}\n`
}

/** Only what the package says about itself, without the addresses of its repository. */
const componentOf = ({ name, version, license }: PackageManifest, type: Enums.ComponentType): Models.Component => {
  const component = builder.makeComponent({ name, version, ...(license !== undefined && { license }) }, type)
  if (component === undefined) throw new Error(`${name} is not the name of a package`)
  component.purl = urls.makeFromComponent(component)
  // Without a value of its own, the reference would be random.
  component.bomRef.value = `${name}@${version}`
  return component
}

/** The hash of each package of a `bun.lock`, by name and version: `"key": ["name@version", "", {…}, "sha512-…"]`. */
const integritiesOf = (lock: string): ReadonlyMap<string, string> =>
  new Map(
    [...lock.matchAll(/^ {4}"[^"]+": \["([^"]+)", .*"(sha\d+-[^"]+)"\],$/gm)].map(([, id = '', integrity = '']) => [
      id,
      integrity,
    ]),
  )
