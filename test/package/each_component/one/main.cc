namespace vitrine {
bool holds();
}  // namespace vitrine

int main() { return vitrine::holds() ? 0 : 1; }
