/** Converts markup that optional packages understand to HTML. */
export interface Markup {
  /** Renders an element of React to HTML, and to the plain text of that. @throws NotifierError `missing_peer` */
  react(element: unknown): Promise<{ readonly html: string; readonly text: string }>
  /**
   * Compiles MJML to HTML. Files are not included.
   *
   * @throws NotifierError `missing_peer`, `invalid_template` with the lines of the faults
   */
  mjml(source: string): Promise<string>
}
