interface Named {
  file: string;
  text: string;
}

/** Gives the browser a text as a file of this name. */
export function download({ file, text }: Named): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  link.download = file;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
